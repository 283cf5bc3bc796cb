// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr std::size_t kMostOpen = 256;
constexpr std::array<const char*, 2> kWays = {"quota", "native"};

}  // namespace

CUevent Coverage::event(ContextId context) {
  if (const auto found = free_.find(context); found != free_.end()) {
    CUevent event = found->second;
    free_.erase(found);
    return event;
  }
  CUevent event = nullptr;
  SLUICE_REAL(cuEventCreate)(&event, CU_EVENT_DEFAULT);
  return event;
}

Coverage::Row& Coverage::row(const Key& key) {
  const auto [at, fresh] = rows_.try_emplace(key);
  if (fresh) at->second.key = &at->first;
  return at->second;
}

std::optional<Coverage::Timed> Coverage::begin(Row& row, std::uint64_t blocks, CUstream stream) {
  constexpr std::uint64_t kBetweenClocks = 16;  // launches between which the clock is not read
  ++row.launches;
  if (row.launches % kBetweenClocks != 0 && !std::has_single_bit(row.launches)) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  if (!std::has_single_bit(row.launches) && now - row.last < kBetween) return std::nullopt;
  row.last = now;
  static_cast<void>(collect());
  if (open_.size() >= kMostOpen) return std::nullopt;
  Timed timed{&row, blocks, current_context().value_or(0), nullptr, nullptr};
  timed.begin = event(timed.context);
  timed.end = event(timed.context);
  if (timed.begin == nullptr || timed.end == nullptr || SLUICE_REAL(cuEventRecord)(timed.begin, stream) != CUDA_SUCCESS)
    return std::nullopt;
  return timed;
}

void Coverage::end(Timed timed, CUstream stream) {
  if (SLUICE_REAL(cuEventRecord)(timed.end, stream) == CUDA_SUCCESS) open_.push_back(timed);
}

bool Coverage::collect() {
  for (std::size_t i = open_.size(); i-- > 0;) {
    Timed timed = open_.front();
    open_.pop_front();
    const CUresult done = SLUICE_REAL(cuEventQuery)(timed.end);
    if (done == CUDA_ERROR_NOT_READY) {
      open_.push_back(timed);
      continue;
    }
    float ms = 0;
    if (done != CUDA_SUCCESS || SLUICE_REAL(cuEventElapsedTime)(&ms, timed.begin, timed.end) != CUDA_SUCCESS) continue;
    Row& row = *timed.row;
    ++row.timed;
    row.ms += static_cast<double>(ms);
    if (timed.blocks > 0) {
      constexpr unsigned kLast = 4;
      Mean& mean = means_[{row.key->kernel, std::bit_width(timed.blocks)}];
      ++mean.timed;
      mean.ms += (static_cast<double>(ms) - mean.ms) / std::min(mean.timed, kLast);
    }
    free_.emplace(timed.context, timed.begin);
    free_.emplace(timed.context, timed.end);
  }
  return !open_.empty();
}

void Coverage::add(const Key& key, std::uint64_t launches, double ms, std::uint64_t timed_launches) {
  Row& sums = row(key);
  sums.launches += launches;
  sums.ms += ms;
  sums.timed += timed_launches;
}

std::optional<double> Coverage::microseconds(const std::string& kernel, std::uint64_t blocks) {
  constexpr unsigned kEnough = 3;
  const auto found = means_.find({kernel, std::bit_width(blocks)});
  if (found == means_.end() || found->second.timed < kEnough) return std::nullopt;
  return found->second.ms * 1e3;
}

void Coverage::context_ends(ContextId context) {
  std::erase_if(open_, [&](const Timed& t) { return t.context == context; });
  free_.erase(context);
}

void Coverage::forget() {
  rows_.clear();
  means_.clear();
  open_.clear();
  free_.clear();
}

nlohmann::json Coverage::json() const {
  std::array<std::uint64_t, kWays.size()> launches{};
  std::array<double, kWays.size()> ms{};
  nlohmann::json reasons = nlohmann::json::object(), table = nlohmann::json::array(), kernels = reasons;
  for (const auto& [key, row] : rows_) {
    const auto way = static_cast<std::size_t>(key.way);
    launches[way] += row.launches;
    ms[way] += row.gpu_ms();
    if (key.way == Way::Native) reasons[key.kernel] = key.reason;
    table.push_back({{"kernel", key.kernel},
                     {"way", kWays[way]},
                     {"reason", key.reason},
                     {"gpu", key.gpu},
                     {"launches", row.launches},
                     {"gpu_ms", row.gpu_ms()},
                     {"timed", row.timed}});
  }
  for (std::size_t way = 0; way < kWays.size(); ++way) kernels[kWays[way]] = {{"launches", launches[way]}, {"gpu_ms", ms[way]}};
  return {{"kernels", kernels}, {"reasons", reasons}, {"table", table}};
}

std::vector<CoverageLine> Coverage::lines(GpuNumber gpu) const {
  std::vector<CoverageLine> all;  // rows of a kernel and a way follow each other
  for (const auto& [key, row] : rows_) {
    const auto ns = static_cast<std::uint64_t>(row.gpu_ms() * 1e6);
    const bool quota = key.way == Way::Quota;
    if (key.gpu != gpu) continue;
    if (all.empty() || all.back().kernel != key.kernel || all.back().quota != quota || all.back().module != key.module)
      all.push_back({quota, key.kernel, key.reason, row.launches, ns, key.module});
    else
      all.back().launches += row.launches, all.back().gpu_ns += ns;
  }
  return all;
}

std::string Coverage::table() const {
  const nlohmann::json all = json();
  std::string text = "sluice:";
  for (const char* way : kWays)
    text += fmt::format("{} {} launches {} ({:.1f} ms)", way == kWays[0] ? "" : ",",
                        all["kernels"][way]["launches"].get<std::uint64_t>(), way == kWays[0] ? "under quota" : way,
                        all["kernels"][way]["gpu_ms"].get<double>());
  text += "\n";
  for (const auto& [key, row] : rows_)
    text += fmt::format("  {:>9} {:6} {:>10.2f} ms {}{}{}{}\n", row.launches, kWays[static_cast<std::size_t>(key.way)],
                        row.gpu_ms(), key.kernel, key.gpu == 0 ? "" : fmt::format(" on GPU {}", key.gpu),
                        key.reason.empty() ? "" : ": ", key.reason);
  return text;
}

}  // namespace sluice::interpose
