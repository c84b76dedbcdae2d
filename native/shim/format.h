// Force-included into the build copy of mlx-c, whose calls of std::format the build renames to mlxts_format: GCC 12
// has no <format>, and on a Mac its use would raise the oldest system that can load the library.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

inline void mlxts_format_rest(std::ostringstream& out, std::string_view rest) {
  out << rest;
}

// Replaces each {} by the next argument: all that mlx-c's messages use.
template <typename First, typename... Others>
void mlxts_format_rest(std::ostringstream& out, std::string_view rest, const First& first, const Others&... others) {
  const size_t hole = rest.find("{}");
  if (hole == std::string_view::npos) {
    out << rest;
    return;
  }
  out << rest.substr(0, hole) << first;
  mlxts_format_rest(out, rest.substr(hole + 2), others...);
}

template <typename... Values>
std::string mlxts_format(std::string_view text, const Values&... values) {
  std::ostringstream out;
  mlxts_format_rest(out, text, values...);
  return out.str();
}
