#pragma once

#include <string>

namespace oas {

/// Writes a drawing as it is, or to a path that ends in .png as a picture of twice its size. The
/// file appears complete or not at all. Throws IoError when it cannot be written, or when a picture
/// is wanted and neither rsvg-convert nor ImageMagick's convert is there.
void write_figure(const std::string& path, const std::string& svg);

/// The same as "png" or "pdf", `zoom` times its size. False, and no file, when no program is there
/// that can draw it. Throws as write_text_file does.
[[nodiscard]] bool convert_figure(const std::string& path, const std::string& svg,
                                  const std::string& format, int zoom);

}  // namespace oas
