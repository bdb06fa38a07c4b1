#pragma once

#include <string>
#include <string_view>

#include "support/error.h"
#include "tuner/trial/request.h"

// Requests and results as bytes: the fields in order, numbers in their own size, texts and lists behind their length.
// Reading accepts exactly what writing produces: each length is checked against the bytes left, each number against its
// field's limits, and no byte may be left over.
namespace padlock::tuner {

[[nodiscard]] std::string to_bytes(const TryRequest& request);
[[nodiscard]] std::string to_bytes(const TryResult& result);
[[nodiscard]] std::string to_bytes(Step step);

/// Errors (data_loss) name the field.
[[nodiscard]] Result<TryRequest> request_from_bytes(std::string_view bytes);
[[nodiscard]] Result<TryResult> result_from_bytes(std::string_view bytes);
[[nodiscard]] Result<Step> step_from_bytes(std::string_view bytes);

}  // namespace padlock::tuner
