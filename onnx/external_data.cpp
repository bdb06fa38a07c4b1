#include "onnx/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <span>
#include <system_error>

#include "support/file.h"

namespace padlock::onnx {
namespace {

namespace fs = std::filesystem;

std::string_view entry(const StoredTensor& tensor, std::string_view key) {
  for (const auto& [name, value] : tensor.external)
    if (name == key) return value;
  return {};
}

/// Returns a number >= 0; 0 if the key is missing.
Result<std::int64_t> number(const StoredTensor& tensor, std::string_view key) {
  const std::string_view text = entry(tensor, key);
  if (text.empty()) return 0;
  std::int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    return invalid_argument(
        fmt::format("expected the {} of external data to be a number, found '{}'", key, text.substr(0, 40)));
  return value;
}

/// Returns the file's path with links followed. It must lie in the folder.
Result<std::string> file_of(std::string_view location, const std::string& folder) {
  const auto refuse = [&](std::string_view why) {
    return invalid_argument(fmt::format("the external data '{}' {}", location.substr(0, 200), why));
  };
  if (folder.empty()) return refuse("has no folder to lie in");
  const fs::path path{std::string(location)};
  if (location.empty() || location.find('\0') != location.npos || path.is_absolute())
    return refuse("is no path below the model's folder");
  std::error_code failed;
  const fs::path root = fs::canonical(folder, failed);
  if (failed) return refuse("has no folder to lie in");
  const fs::path file = fs::canonical(root / path, failed);
  if (failed) return refuse("is not there");
  const fs::path below = file.lexically_relative(root);
  if (below.empty() || *below.begin() == "..") return refuse("lies outside the model's folder");
  return file.string();
}

}  // namespace

Result<std::string> read_external(const StoredTensor& tensor, const std::string& folder, std::size_t bytes) {
  PADLOCK_TRY(const std::int64_t offset, number(tensor, "offset"));
  PADLOCK_TRY(const std::int64_t length, number(tensor, "length"));
  PADLOCK_TRY(const std::string path, file_of(entry(tensor, "location"), folder));
  PADLOCK_TRY(const InputFile file, InputFile::open(path));
  const auto wanted = static_cast<std::int64_t>(bytes);
  if ((length != 0 && length != wanted) || offset > file.size() || file.size() - offset < wanted)
    return std::unexpected(
        Error{.code = Code::data_loss,
              .blame = Blame::user,
              .message = fmt::format("expected {} bytes of external data at {} of '{}', found {} in {}", wanted, offset,
                                     path, length, file.size())});
  std::string raw(bytes, '\0');
  PADLOCK_CHECK(file.read_at(offset, std::as_writable_bytes(std::span(raw))));
  return raw;
}

}  // namespace padlock::onnx
