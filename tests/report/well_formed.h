// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The first end tag that closes another element than the last opened one; "" when all match.
inline std::string mismatched_tag(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return "unclosed <";
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.ends_with('/')) continue;
    if (name[0] != '/') {
      open.push_back(name);
      continue;
    }
    if (open.empty() || "/" + open.back() != name) return name + " closes " + (open.empty() ? "nothing" : open.back());
    open.pop_back();
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

/// Well formed, without script or network, and no number on it that is none.
inline void expect_sound(const std::string& page) {
  const std::size_t begin = page.find("<body>");
  EXPECT_EQ(mismatched_tag(page.substr(begin, page.find("</html>") - begin)), "");
  for (const char* number : {">nan", ": nan", "\"nan", ",nan", ">inf", ": inf", "\"inf", "http", "<script"})
    EXPECT_FALSE(contains(page, number)) << number;
}

}  // namespace sluice::test
