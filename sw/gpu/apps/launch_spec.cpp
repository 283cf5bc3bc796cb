// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/launch_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

struct TypeName {
  const char* name;
  ElementType type;
  std::size_t bytes;
};
constexpr TypeName kTypes[] = {{"u8", ElementType::U8, 1},   {"u16", ElementType::U16, 2}, {"i32", ElementType::I32, 4},
                               {"u32", ElementType::U32, 4}, {"i64", ElementType::I64, 8}, {"u64", ElementType::U64, 8},
                               {"f32", ElementType::F32, 4}, {"f64", ElementType::F64, 8}};
constexpr const char* kTypeList = "u8, u16, i32, u32, i64, u64, f32, f64";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == at && depth <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

template <class T>
T number(const std::string& text, const std::string& where, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
    throw InputError(fmt::format("{}: \"{}\": must be {}..{}", where, text, low, high));
  return value;
}

std::array<std::uint32_t, 3> extent(const std::string& text, const std::string& where, const std::array<std::uint32_t, 3>& most) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() > 3) throw InputError(fmt::format("{}: \"{}\": must be X, XxY or XxYxZ", where, text));
  std::array<std::uint32_t, 3> out{1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) out[i] = number<std::uint32_t>(parts[i], where, 1, most[i]);
  return out;
}

const TypeName& type_named(const std::string& name, const std::string& where) {
  for (const TypeName& t : kTypes)
    if (name == t.name) return t;
  throw InputError(fmt::format("{}: type \"{}\": must be one of {}", where, name, kTypeList));
}

template <class T>
ArgumentSpec scalar_from(const std::string& text, const std::string& where) {
  return scalar<T>(number<T>(text, where, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
}

ArgumentSpec parse_scalar(ElementType type, const std::string& value, const std::string& where) {
  switch (type) {
    case ElementType::U8: return scalar_from<std::uint8_t>(value, where);
    case ElementType::U16: return scalar_from<std::uint16_t>(value, where);
    case ElementType::I32: return scalar_from<std::int32_t>(value, where);
    case ElementType::U32: return scalar_from<std::uint32_t>(value, where);
    case ElementType::I64: return scalar_from<std::int64_t>(value, where);
    case ElementType::U64: return scalar_from<std::uint64_t>(value, where);
    case ElementType::F32: return scalar_from<float>(value, where);
    case ElementType::F64: return scalar_from<double>(value, where);
  }
  throw InputError(where + ": unknown type");
}

void parse_fill(ArgumentSpec& a, const std::vector<std::string>& parts, const std::string& where) {
  const std::string& name = parts[3];
  if (name == "zero")
    a.fill = SLUICE_FILL_ZERO;
  else if (name == "iota") {
    a.fill = SLUICE_FILL_IOTA;
    a.a = 1;
    a.b = 0;
  } else if (name == "uniform") {
    a.fill = SLUICE_FILL_UNIFORM;
    if (a.type != ElementType::F32 && a.type != ElementType::F64) a.b = 128;
  } else if (name == "chance") {
    a.fill = SLUICE_FILL_CHANCE;
    a.a = 0.5F;
  } else if (name == "chase")
    a.fill = SLUICE_FILL_CHASE;
  else
    throw InputError(fmt::format("{}: fill \"{}\": must be zero, iota, uniform, chance or chase", where, name));
  if (parts.size() > 4) a.a = number<float>(parts[4], where + ": first fill parameter", -1e30F, 1e30F);
  if (parts.size() > 5) a.b = number<float>(parts[5], where + ": second fill parameter", -1e30F, 1e30F);
  if (parts.size() > 6) a.seed = number<std::uint32_t>(parts[6], where + ": seed", 0, 0xffffff);
  if (parts.size() > 7) throw InputError(where + ": too many fields; a buffer is KIND:TYPE:COUNT[:FILL[:A[:B[:SEED]]]]");
  if (a.fill == SLUICE_FILL_CHASE && (a.count & (a.count - 1)) != 0)
    throw InputError(where + ": fill chase needs a COUNT that is a power of two");
}

ArgumentSpec parse_argument(const std::string& text, const std::string& where) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts[0] != "in" && parts[0] != "inout" && parts[0] != "out") {
    const TypeName& type = type_named(parts[0], where);
    if (parts.size() != 2) throw InputError(fmt::format("{}: \"{}\": a scalar is TYPE:VALUE", where, text));
    ArgumentSpec a = parse_scalar(type.type, parts[1], where);
    a.type = type.type;
    return a;
  }
  if (parts.size() < 3)
    throw InputError(fmt::format("{}: \"{}\": a buffer is KIND:TYPE:COUNT[:FILL[:A[:B[:SEED]]]]", where, text));
  ArgumentSpec a;
  a.kind = parts[0] == "in" ? ArgumentSpec::Kind::In : parts[0] == "out" ? ArgumentSpec::Kind::Out : ArgumentSpec::Kind::InOut;
  a.type = type_named(parts[1], where).type;
  a.count = number<std::uint64_t>(parts[2], where + ": COUNT", 1, std::uint64_t{1} << 36);
  if (a.kind == ArgumentSpec::Kind::Out) {
    a.fill = SLUICE_FILL_POISON;
    if (parts.size() > 3) throw InputError(fmt::format("{}: \"{}\": an output is poisoned, it takes no fill", where, text));
  } else if (parts.size() > 3) {
    parse_fill(a, parts, where);
  }
  return a;
}

}  // namespace

std::size_t size_of(ElementType type) { return kTypes[static_cast<std::size_t>(type)].bytes; }
std::string_view to_string(ElementType type) { return kTypes[static_cast<std::size_t>(type)].name; }

LaunchSpec parse_launch(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  LaunchSpec spec;
  const std::size_t colon = parts[0].find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == parts[0].size())
    throw InputError(fmt::format("--kernel \"{}\": must begin with FILE:NAME", text));
  spec.file = parts[0].substr(0, colon);
  spec.kernel = parts[0].substr(colon + 1);
  spec.label = spec.kernel;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals), value = equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    const std::string where = fmt::format("--kernel {}: {}", spec.kernel, key);
    if (key == "grid")
      spec.grid = extent(value, where, {2147483647, 65535, 65535});
    else if (key == "block")
      spec.block = extent(value, where, {1024, 1024, 64});
    else if (key == "smem")
      spec.shared_bytes = number<std::uint32_t>(value, where, 0, 232448);
    else if (key == "args") {
      if (value.empty()) continue;
      for (const std::string& argument : split(value, ';'))
        spec.arguments.push_back(parse_argument(argument, fmt::format("{} {}", where, spec.arguments.size() + 1)));
    } else
      throw InputError(fmt::format("--kernel {}: \"{}\": must be grid=, block=, smem= or args=", spec.kernel, parts[i]));
  }
  if (spec.block_threads() > 1024)
    throw InputError(fmt::format("--kernel {}: block of {} threads: must be 1..1024 in all", spec.kernel, spec.block_threads()));
  return spec;
}

}  // namespace sluice::gpu
