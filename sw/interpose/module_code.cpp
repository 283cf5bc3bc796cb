// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

namespace sluice::interpose {

std::string packed(const Code& code) {
  nlohmann::json kernels = nlohmann::json::object();
  for (const auto& [name, k] : code.kernels) {
    kernels[name] = {{"entry", k.entry}, {"shared", k.shared_behind}, {"waits", k.waits}};
    if (k.refusal) kernels[name]["refusal"] = {static_cast<int>(k.refusal->rule), k.refusal->reason};
  }
  std::string words;
  nlohmann::json::to_cbor({{"kernels", kernels}, {"variables", code.variables}, {"bytes", code.cubin.size()}}, words);
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
    if (code.cubin.size() != all.at("bytes").get<std::size_t>()) return std::nullopt;  // its writer was ended meanwhile
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
