#include "oas/figures/figure_file.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/programs.hpp"
#include "oas/core/temporary_files.hpp"

namespace oas {

void write_figure(const std::string& path, const std::string& svg) {
  if (!path.ends_with(".png")) {
    write_text_file(path, svg);
    return;
  }
  const std::string drawing = path + ".tmp.svg";
  const std::string picture = path + ".tmp.png";
  const TemporaryName noted[] = {TemporaryName(drawing), TemporaryName(picture)};
  write_text_file(drawing, svg);
  const bool drawn = run_program({"rsvg-convert", "-z", "2", "-o", picture, drawing}) ||
                     run_program({"convert", "-density", "192", drawing, picture});
  std::remove(drawing.c_str());
  if (!drawn || std::rename(picture.c_str(), path.c_str()) != 0) {
    std::remove(picture.c_str());
    throw IoError(fmt::format(
        "{}: a PNG needs rsvg-convert or ImageMagick's convert; an .svg does not", path));
  }
}

}  // namespace oas
