// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/fixed_shares.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sw/gpu/runtime/control.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

namespace {
constexpr const char* kNoRange = "a MIG instance has no ranges of SMs";
}

std::optional<Share> share_of(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text == "all") return kWholeMachine;
  unsigned ctas = 0, first = 0, last = 0;
  char rest = 0;
  const std::string line(text);
  const int found = std::sscanf(line.c_str(), "%u %u-%u%c", &ctas, &first, &last, &rest);
  if (found == 1 && line.find_first_not_of("0123456789") == std::string::npos && ctas <= SLUICE_MAX_SLOTS)
    return Share{CtaCount(ctas), kEverySm};
  if (found == 3 && ctas <= SLUICE_MAX_SLOTS && first <= last && last < SLUICE_MAX_SM)
    return Share{CtaCount(ctas), {SmId(first), last - first + 1}};
  return std::nullopt;
}

FixedShares::FixedShares(ILanes& lanes, Share share, std::string file, bool part_of_gpu)
    : lanes_(lanes), share_at_start_(share), file_(std::move(file)), part_of_gpu_(part_of_gpu), share_(share) {
  if (file_.empty()) return;
  read();
  start_thread([this] { follow(); });  // this lives as long as the process, too
}

Share FixedShares::launched(LaneId lane, const KernelDemand& /*in_front*/) {
  const std::scoped_lock held(lock_);
  known_.insert(lane);
  return share_;
}

bool FixedShares::admit(const std::string& /*kernel*/) {
  const std::scoped_lock held(lock_);
  return share_.ctas.value() > 0;
}

void FixedShares::read() {
  std::ifstream in(file_);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto share = share_of(text);
  if (!share) {
    if (!text.empty()) std::fprintf(stderr, "sluice: %s: must be N, \"N A-B\" or all: the quota stays\n", file_.c_str());
    return;  // an empty file is one that is being written
  }
  if (part_of_gpu_ && share->sms != kEverySm) {
    std::fprintf(stderr, "sluice: %s: %s: the quota stays\n", file_.c_str(), kNoRange);
    return;
  }
  std::set<LaneId> lanes;
  {
    const std::scoped_lock held(lock_);
    if (*share == share_) return;
    share_ = *share;
    lanes = known_;
    ordered_ = Clock::now();
    leaving_ = share->ctas.value() == 0 ? known_ : std::set<LaneId>();
  }
  for (const LaneId lane : lanes) lanes_.on_share(lane, *share);
  if (share->ctas.value() == 0 && !lanes.empty()) lanes_.await_leaving(std::vector(lanes.begin(), lanes.end()));
}

void FixedShares::evicted(LaneId lane) {
  const std::scoped_lock held(lock_);
  if (leaving_.erase(lane) > 0 && left_us_.size() < kMost)
    left_us_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - ordered_).count());
}

std::string FixedShares::times_json() const {
  const std::scoped_lock held(lock_);
  return file_.empty() ? "" : nlohmann::json{{"evictions", {{"left_us", left_us_}}}}.dump();
}

void FixedShares::follow() {
  pthread_setname_np(pthread_self(), "sluice-quota");
  const int changes = inotify_init1(IN_CLOEXEC);
  const std::filesystem::path folder = std::filesystem::absolute(file_).parent_path();  // a new file may be moved there
  if (changes < 0 || inotify_add_watch(changes, folder.c_str(), IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    std::fprintf(stderr, "sluice: %s cannot be followed\n", file_.c_str());
    return;
  }
  alignas(inotify_event) std::array<char, 4096> events{};
  while (::read(changes, events.data(), events.size()) > 0) read();
}

bool service_decides() {
  const char* socket = std::getenv("SLUICE_SOCKET");
  return socket != nullptr && *socket != '\0';
}

std::unique_ptr<IShares> make_shares(ILanes& lanes, GpuNumber gpu) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (service_decides()) return service_shares(lanes, gpu);
  const std::string quota = set("SLUICE_QUOTA"), sms = set("SLUICE_SMS"), file = set("SLUICE_QUOTA_FILE");
  if (quota.empty() && sms.empty() && file.empty()) return std::make_unique<NoShares>("no quota is set");
  Share share = kWholeMachine;
  unsigned first = 0, last = 0;
  if (!quota.empty())
    share.ctas = CtaCount(std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::atoi(quota.c_str())), 1, SLUICE_MAX_SLOTS));
  if (std::sscanf(sms.c_str(), "%u-%u", &first, &last) == 2 && first <= last) share.sms = {SmId(first), last - first + 1};
  const bool part = lanes.device(gpu).part;
  if (part && share.sms != kEverySm) {
    std::fprintf(stderr, "sluice: --sms %s: %s: runs natively\n", sms.c_str(), kNoRange);
    return std::make_unique<NoShares>(kNoRange);
  }
  return std::make_unique<FixedShares>(lanes, share, file, part);
}

}  // namespace sluice::interpose
