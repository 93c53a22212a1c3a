#pragma once

#include <string>

namespace oas {

/// Writes a drawing as it is, or to a path that ends in .png as a picture of twice its size. The
/// file appears complete or not at all. Throws IoError when it cannot be written, or when a picture
/// is wanted and neither rsvg-convert nor ImageMagick's convert is there.
void write_figure(const std::string& path, const std::string& svg);

}  // namespace oas
