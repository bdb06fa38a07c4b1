#pragma once

#include <string_view>

// Programs whose GPU schedules are proved, and refuted with a seeded bug: some become a grid of vectors, some tiles
// because they are read across rows.
namespace padlock::compiler {

inline constexpr std::string_view kPad =
    "program p(x: f32[B, S], lo: dim, hi: dim) where B >= 1, S >= 1, lo >= 0, hi >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, hi]) return y }";
inline constexpr std::string_view kBytes =
    "program p(x: i8[C, H, W], p: dim) where C >= 1, H >= 2, W >= 2, 0 <= p < W, p < H "
    "{ y = pad(x, low = [0, p, p], high = [0, p, p], mode = reflect) return y }";
inline constexpr std::string_view kSearched =
    "program p(x: f16[R, C], a: i64[G], i: i64[N]) where R >= 1, C >= 1, G >= 1, N >= 1 "
    "{ g = search(a, i) y = take(x, g, axis = 0) return y }";
inline constexpr std::string_view kTurned =
    "program p(x: f32[A, B], l: dim) where A >= 1, B >= 1, 0 <= l <= 64 "
    "{ t = transpose(x, perm = [1, 0]) y = pad(t, low = [l, 2], high = [1, l]) return y }";
inline constexpr std::string_view kTurnedBytes =
    "program p(x: i8[N, H, W], l: dim) where N >= 1, H >= 2, W >= 2, 0 <= l < H, l < W "
    "{ t = transpose(x, perm = [0, 2, 1]) y = pad(t, low = [0, l, l], high = [0, l, l], mode = reflect) "
    "z = relu(y) return z }";
inline constexpr std::string_view kTurnedAndNot =
    "program p(x: f16[A, B], y: f16[B, A]) where A >= 1, B >= 1 "
    "{ t = transpose(x, perm = [1, 0]) z = add(t, y) return z }";
inline constexpr std::string_view kRotated =
    "program p(x: f64[A, B, C]) where A >= 1, B >= 1, C >= 1 { y = transpose(x, perm = [2, 0, 1]) return y }";
inline constexpr std::string_view kImages =
    "program p(x: f16[A, B, C], l: dim, h: dim) where A >= 1, B >= 1, C >= 1, -9 <= l, l <= 9, -9 <= h, h <= 9 "
    "{ y = pad(x, low = [0, l, l], high = [0, h, h], value = 2) z = relu(y) return z }";
inline constexpr std::string_view kTwo =
    "program p(x: f32[A, B], y: f32[A, C]) where A >= 1, B >= 1, C >= 1 { z = concat(x, y, axis = 1) return z }";
inline constexpr std::string_view kToPlanes =
    "program p(x: u8[N, H, W, C]) where N >= 1, H >= 1, W >= 1, C >= 1 { y = transpose(x, perm = [0, 3, 1, 2]) "
    "z = pad(y, low = [0, 0, 1, 2], high = [0, 0, 3, 1], value = 7) return z }";
inline constexpr std::string_view kToChannels =
    "program p(x: f16[N, C, H, W]) where N >= 1, H >= 3, W >= 3, C >= 1 { y = transpose(x, perm = [0, 2, 3, 1]) "
    "z = pad(y, low = [0, 1, -1, 0], high = [0, 1, 2, 0], value = 7) r = relu(z) return r }";

}  // namespace padlock::compiler
