#include "oas/figures/figure_file.hpp"

#include <fmt/format.h>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/programs.hpp"

namespace oas {

void write_figure(const std::string& path, const std::string& svg) {
  if (!path.ends_with(".png")) {
    write_text_file(path, svg);
    return;
  }
  if (convert_figure(path, svg, "png", 2)) return;
  throw IoError(
      fmt::format("{}: a PNG needs rsvg-convert or ImageMagick's convert; an .svg does not", path));
}

bool convert_figure(const std::string& path, const std::string& svg, const std::string& format,
                    int zoom) {
  TemporaryFile picture(path, "." + format);
  const TemporaryFile drawing(path, ".svg");  // with a name of its own: others may draw this, too
  write_text_file(drawing.name(), svg);
  const bool drawn = run_program({"rsvg-convert", "-f", format, "-z", fmt::format("{}", zoom), "-o",
                                  picture.name(), drawing.name()}) ||
                     run_program({"convert", "-density", fmt::format("{}", 96 * zoom),
                                  drawing.name(), picture.name()});
  if (drawn) picture.take_place();
  return drawn;
}

}  // namespace oas
