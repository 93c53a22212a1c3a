#include "oas/formats/pomdpx.hpp"

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/formats/detail/pomdpx_parser.hpp"

namespace oas {

ReadModel parse_pomdpx(std::string_view text, const std::string& file,
                       const ModelReadOptions& options) {
  try {
    return detail::PomdpxParser(text, file, options).parse();
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(file, 0, 0, error.what());
  }
}

}  // namespace oas
