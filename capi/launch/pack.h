#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capi/launch/context.h"
#include "capi/object.h"
#include "runtime/pack/pack_file.h"

struct padlock_pack : padlock::capi::Counted<padlock_pack> {
  padlock_pack(padlock_context& owner, std::shared_ptr<const padlock::runtime::PackFile> contents)
      : context(padlock::capi::Ref<padlock_context>::to(&owner)),
        pack(std::move(contents)),
        fingerprint(pack->fingerprint()) {
    for (const padlock::runtime::PackProgram& program : pack->contents().programs) names.emplace_back(program.name);
  }

  const padlock::capi::Ref<padlock_context> context;
  const std::shared_ptr<const padlock::runtime::PackFile> pack;
  const std::string fingerprint;
  std::vector<std::string> names;  // each ends with a zero byte
};
