// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

namespace sluice::interpose {

Code made(const std::string& ptx, bool variables, unsigned registers, const std::function<Assembler>& assembler) {
  Code code;
  std::string last;
  const auto assemble = [&](const std::string& text) {
    if (text == last) return;
    last.clear();
    code.cubin = assembler(text);
    last = text;
  };
  gpu::RewrittenModule module = gpu::rewrite_module(ptx, runtime_text(), assemble, registers);
  const bool any = std::ranges::any_of(module.kernels, [](const auto& k) { return !k.second.refusal; });
  if (any)
    assemble(module.text);
  else
    code.cubin.clear();
  code.kernels = std::move(module.kernels);
  code.variables = variables;
  return code;
}

std::string packed(const Code& code) {
  nlohmann::json kernels = nlohmann::json::object();
  for (const auto& [name, k] : code.kernels) {
    kernels[name] = {{"entry", k.entry}, {"shared", k.shared_behind}, {"waits", k.waits}};
    if (k.refusal) kernels[name]["refusal"] = {static_cast<int>(k.refusal->rule), k.refusal->reason};
  }
  std::string words;
  nlohmann::json::to_cbor({{"kernels", kernels}, {"variables", code.variables}}, words);
  const std::uint64_t count = words.size();  // the code behind them is not CBOR, which is read byte by byte
  std::string text(reinterpret_cast<const char*>(&count), sizeof count);
  return text.append(words).append(code.cubin.begin(), code.cubin.end());
}

std::optional<Code> unpacked(const std::string& text) {
  try {
    std::uint64_t count = 0;
    if (text.size() < sizeof count) return std::nullopt;
    std::memcpy(&count, text.data(), sizeof count);
    if (count > text.size() - sizeof count) return std::nullopt;
    const auto words = text.begin() + sizeof count, binary = words + static_cast<std::ptrdiff_t>(count);
    const nlohmann::json all = nlohmann::json::from_cbor(words, binary);
    Code code;
    code.cubin.assign(binary, text.end());
    code.variables = all.at("variables").get<bool>();
    for (const auto& [name, k] : all.at("kernels").items()) {
      gpu::ModuleKernel& kernel = code.kernels[name];
      kernel.entry = k.at("entry").get<std::string>();
      kernel.shared_behind = k.at("shared").get<std::uint32_t>();
      kernel.waits = k.at("waits").get<bool>();
      if (k.contains("refusal"))
        kernel.refusal = {static_cast<gpu::GateRule>(k["refusal"].at(0).get<int>()), k["refusal"].at(1).get<std::string>()};
    }
    return code;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sluice::interpose
