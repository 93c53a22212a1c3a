#include "oas/formats/pomdp_text.hpp"

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/formats/detail/pomdp_parser.hpp"

namespace oas {

ReadModel parse_pomdp(std::string_view text, const std::string& file,
                      const ModelReadOptions& options) {
  try {
    return detail::PomdpParser(text, file, options).parse();
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(file, 0, 0, error.what());
  }
}

}  // namespace oas
