#include "runtime/pack/pack_file.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "abi/gpu_targets.h"
#include "runtime/pack/pack_header.h"
#include "support/byte_stream.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/messages/suggestion.h"

namespace padlock::runtime {
namespace {

/// Alignment of an image in a pack, so that tools can inspect a mapped file in place.
constexpr std::size_t kCodeAlignment = 64;

class PackWriter {
 public:
  void write(const PackContents& contents) {
    metadata_.text(contents.build);
    metadata_.number(static_cast<Int128>(contents.programs.size()));
    for (const PackProgram& program : contents.programs) write(program);
  }

  Result<std::vector<std::byte>> take() && {
    std::vector<std::byte> metadata = std::move(metadata_).take();
    header_.metadata_bytes = metadata.size();
    header_.code_bytes = code_.size();
    const auto header = header_.bytes();
    std::vector<std::byte> file(header.begin(), header.end());
    file.insert(file.end(), metadata.begin(), metadata.end());
    file.insert(file.end(), code_.begin(), code_.end());
    const auto sum = checksum128(file);
    file.insert(file.end(), sum.begin(), sum.end());
    if (std::ssize(file) > kMaxPackBytes)
      return beyond_limits(fmt::format("the pack has {} bytes, a pack has at most {}", file.size(), kMaxPackBytes));
    return file;
  }

 private:
  void write(const PackProgram& program) {
    metadata_.text(program.name);
    metadata_.text(program.text);
    metadata_.text(program.fingerprint);
    metadata_.number(static_cast<Int128>(program.targets.size()));
    for (const PackTarget& target : program.targets) write(target);
  }

  void write(const PackTarget& target) {
    metadata_.text(target.name);
    metadata_.text(target.description);
    metadata_.number(target.elf_number);
    metadata_.number(static_cast<Int128>(target.features.size()));
    for (const std::string_view feature : target.features) metadata_.text(feature);
    metadata_.text(target.reason);
    metadata_.number(static_cast<Int128>(target.choices.size()));
    for (const PackChoice& choice : target.choices) {
      metadata_.text(choice.region);
      metadata_.text(choice.config);
    }
    metadata_.number(static_cast<Int128>(target.codes.size()));
    for (const PackConfig& code : target.codes) write(code);
  }

  void write(const PackConfig& code) {
    metadata_.text(code.config);
    metadata_.number(code.task_bytes);
    metadata_.bytes(code.contracts);
    add_code(code.code);
    add_code(code.cubin);
  }

  void add_code(std::span<const std::byte> bytes) {
    code_.resize((code_.size() + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment);
    metadata_.number(static_cast<Int128>(code_.size()));
    metadata_.number(static_cast<Int128>(bytes.size()));
    code_.insert(code_.end(), bytes.begin(), bytes.end());
  }

  PackHeader header_;
  ByteWriter metadata_;
  std::vector<std::byte> code_;
};

class PackReader {
 public:
  PackReader(std::span<const std::byte> metadata, std::span<const std::byte> code)
      : from_(metadata, kPack), code_(code) {}

  Result<PackContents> read() {
    PackContents contents;
    PADLOCK_TRY(contents.build, from_.text());
    PADLOCK_CHECK(read_list(contents.programs, [this](PackProgram& program) { return read(program); }));
    PADLOCK_CHECK(from_.finish());
    return contents;
  }

 private:
  template <class T, class Read>
  Status read_list(std::vector<T>& list, Read&& read_one) {
    PADLOCK_TRY(const std::size_t count, from_.count());
    // Grows while reading: the count is only known not to exceed the bytes left.
    for (std::size_t i = 0; i < count; ++i) PADLOCK_CHECK(read_one(list.emplace_back()));
    return {};
  }

  Status read(std::string_view& text) {
    PADLOCK_TRY(text, from_.text());
    return {};
  }

  Status read(PackProgram& program) {
    PADLOCK_CHECK(read(program.name));
    PADLOCK_CHECK(read(program.text));
    PADLOCK_CHECK(read(program.fingerprint));
    return read_list(program.targets, [this](PackTarget& target) { return read(target); });
  }

  Status read(PackTarget& target) {
    PADLOCK_CHECK(read(target.name));
    PADLOCK_CHECK(read(target.description));
    PADLOCK_TRY(const std::int64_t number, from_.number(0, 0xFFFF));
    target.elf_number = static_cast<int>(number);
    PADLOCK_CHECK(read_list(target.features, [this](std::string_view& feature) { return read(feature); }));
    PADLOCK_CHECK(read(target.reason));
    PADLOCK_CHECK(read_list(target.choices, [this](PackChoice& choice) { return read(choice); }));
    PADLOCK_CHECK(read_list(target.codes, [this](PackConfig& code) { return read(code); }));
    if (target.codes.empty()) return damaged_pack("a target has no code");
    for (const PackChoice& choice : target.choices)
      if (std::ranges::find(target.codes, choice.config, &PackConfig::config) == target.codes.end())
        return damaged_pack("a choice names a config without code");
    return {};
  }

  Status read(PackChoice& choice) {
    PADLOCK_CHECK(read(choice.region));
    return read(choice.config);
  }

  Status read(PackConfig& code) {
    PADLOCK_CHECK(read(code.config));
    PADLOCK_TRY(code.task_bytes, from_.number(1, std::int64_t{1} << 40));
    PADLOCK_TRY(code.contracts, from_.bytes());
    PADLOCK_TRY(code.code, read_code());
    PADLOCK_TRY(code.cubin, read_code());
    return {};
  }

  Result<std::span<const std::byte>> read_code() {
    const auto most = static_cast<std::int64_t>(code_.size());
    PADLOCK_TRY(const std::int64_t offset, from_.number(0, most));
    PADLOCK_TRY(const std::int64_t size, from_.number(0, most - offset));
    return code_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  ByteReader from_;
  std::span<const std::byte> code_;
};

}  // namespace

Result<std::vector<std::byte>> write_pack(const PackContents& contents) {
  PackWriter writer;
  writer.write(contents);
  return std::move(writer).take();
}

Result<std::shared_ptr<const PackFile>> PackFile::parse(std::vector<std::byte> bytes) {
  PADLOCK_TRY(const PackHeader header, PackHeader::of(bytes));
  std::shared_ptr<PackFile> file(new PackFile(std::move(bytes)));
  const auto rest = std::span<const std::byte>(file->bytes_).subspan(PackHeader::kBytes);
  PADLOCK_TRY(
      file->contents_,
      PackReader(rest.first(header.metadata_bytes), rest.subspan(header.metadata_bytes, header.code_bytes)).read());
  return file;
}

Result<std::shared_ptr<const PackFile>> PackFile::load(const std::string& path) {
  PADLOCK_TRY(const InputFile file, InputFile::open(path));
  if (file.size() > kMaxPackBytes)
    return beyond_limits(fmt::format("{}: a pack has at most {} bytes, found {}", path, kMaxPackBytes, file.size()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  PADLOCK_CHECK(file.read_at(0, bytes));
  auto parsed = parse(std::move(bytes));
  if (!parsed) parsed.error().message = fmt::format("{}: {}", path, parsed.error().message);
  return parsed;
}

std::string PackFile::fingerprint() const {
  std::string digits;
  for (const std::byte byte : std::span(bytes_).last(PackHeader::kChecksumBytes))
    digits += fmt::format("{:02x}", std::to_integer<int>(byte));
  return digits;
}

Result<const PackProgram*> PackFile::find(std::string_view program) const {
  const auto& programs = contents_.programs;
  if (program.empty() && programs.size() == 1) return &programs.front();
  const auto found = std::ranges::find(programs, program, &PackProgram::name);
  if (found != programs.end()) return &*found;
  std::string names;
  for (const PackProgram& one : programs) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
  return std::unexpected(Error{
      .code = Code::not_found,
      .blame = Blame::user,
      .message =
          fmt::format("expected the name of a program of the pack ({}), found '{}'{}", names.empty() ? "none" : names,
                      program, did_you_mean(program, programs | std::views::transform(&PackProgram::name)))});
}

}  // namespace padlock::runtime
