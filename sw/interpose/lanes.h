// SPDX-License-Identifier: Apache-2.0
#pragma once
// What follows each other on the GPU under one share: its quotas in device memory, its launches, and a thread that brings CTAs to
// launches whose grid has too few.
#include <cuda.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/jobs/watchdog.h"
#include "sw/gpu/runtime/control.h"
#include "sw/interpose/context_state.h"
#include "sw/interpose/shares.h"

namespace sluice::interpose {

using Clock = std::chrono::steady_clock;

/// A transformed launch, kept so that a later grid can work for it.
struct Pending {
  CUfunction function = nullptr;
  std::array<unsigned, 2> grid{1, 1};  ///< SMs, CTAs on each
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared = 0;
  std::vector<std::byte> arguments;
  std::vector<std::size_t> at;  ///< where each parameter begins; the last is the SluiceJob
  KernelDemand demand;
  std::uint64_t blocks = 0, number = 0;  ///< number: of the launch on its control block
  std::uint64_t entered = 0;             ///< into its stream, with it
  bool waits = false;
};

/// A control block, and the launches that use it one after the other.
struct Slot {
  CUdeviceptr control = 0;
  Notice told;
  std::deque<Pending> pending;  ///< of a graph's node: the one launch, again and again
  bool node = false;
  std::uint64_t launched = 0;         ///< since it was made; not of nodes
  std::uint32_t ended = 0, naps = 0;  ///< as last told
  bool asleep = false;                ///< the launch in front has blocks left, and no CTA but the sleeper
  bool raised = false;                ///< CTAs may have room that it lacks: its quota grew, or some left at its begin
  bool seen = false;                  ///< the launch in front was looked at
  Clock::time_point helped, looked;   ///< when a later grid was launched for it; when its counters were read
  Clock::duration patience{};         ///< until the next later grid
  std::uint32_t done = 0;             ///< blocks, as last read; wraps
  std::uint32_t resident = 0;         ///< CTAs, as last read
  CUdeviceptr runs = 0;               ///< SLUICE_CHECK: how often each block ran, of launches of `of` blocks
  std::uint64_t of = 0, counted = 0;  ///< so many of them
  Clock::time_point moved;            ///< when the launch in front came there, had no CTA, or had ended a block, as last seen
  std::optional<gpu::Watchdog> watchdog;
};

struct Lane {
  LaneId id = 0;
  std::shared_ptr<ContextState> context_state;
  IShares* shares = nullptr;  ///< who decides on its GPU: lives as long as the process
  CUdeviceptr orders = 0;
  Share share{CtaCount(0)};
  KernelDemand told;           ///< the kernel that the share is of
  Clock::time_point in_front;  ///< since when its first launch is
  bool stale = true;           ///< the share is not in device memory
  std::uint64_t order = 0;     ///< sent last
  bool evicted = false;        ///< told
  bool watched = false;
  std::optional<gpu::QuotaTable> raised;  ///< by the watchdog, until the launch has ended; as `quotas`
  std::vector<std::shared_ptr<Slot>> slots;
  mutable std::vector<Event> replays;   ///< of a lane of graphs: behind those that may not have ended
  std::size_t entering = 0;             ///< replays that are being launched
  std::uint64_t done = 0;               ///< blocks that have ended
  bool busy = false;                    ///< as told
  std::uint64_t entered = 0, gone = 0;  ///< of what entered the stream while a launch under quota had not ended
  std::mutex launching;                 ///< launches enter the stream in the order in which they are noted
  [[nodiscard]] bool outstanding() const;
  /// CTAs, or 32nds of what fits (IShares::in_parts). On a part of a GPU on every SM: no range of them can be told.
  [[nodiscard]] gpu::QuotaTable quotas() const {
    const DeviceShape& device = context_state->shape();
    return raised ? *raised : gpu::quotas_of(device.part ? Share{share.ctas, kEverySm} : share, device.sms);
  }
  [[nodiscard]] std::size_t queued() const { return entered - gone; }
};

/// The lanes of the process, under one lock that is never held while the driver may wait for the GPU.
class Lanes : public ILanes {
 public:
  explicit Lanes(std::mutex& lock) : lock_(lock) {}
  void on_share(LaneId lane, const Share& share) override;
  void await_leaving(std::span<const LaneId> ids) override;
  [[nodiscard]] bool admitted_runs(GpuNumber gpu) override;
  void look_at_admitted(GpuNumber gpu) override;
  void on_gone(GpuNumber gpu) override;
  [[nodiscard]] std::vector<CoverageLine> coverage(GpuNumber gpu) override;
  [[nodiscard]] MemoryFigures memory(GpuNumber gpu) override;
  [[nodiscard]] bool has_failed(GpuNumber gpu) override;
  [[nodiscard]] DeviceShape device(GpuNumber gpu) override;

  // With the lock held.
  [[nodiscard]] IShares& shares() { return shares(current_gpu()); }  ///< of the current context's GPU
  [[nodiscard]] IShares& shares(GpuNumber gpu);
  [[nodiscard]] std::string times_json() const;  ///< IShares::times_json() of the first GPU
  // Memory may have to wait for the GPU, and the GPU for the lanes' thread: the lock is given up meanwhile.
  [[nodiscard]] std::shared_ptr<ContextState> context_state(
      std::unique_lock<std::mutex>& held);                   ///< of the current context; null: the driver refuses
  [[nodiscard]] std::shared_ptr<ContextState> here() const;  ///< the same; null: nothing of it was under quota
  /// The stream's lane, in the current context. @return null: no memory
  [[nodiscard]] std::shared_ptr<Lane> of_stream(std::unique_lock<std::mutex>& held, CUstream stream);
  [[nodiscard]] std::shared_ptr<Lane> known(CUstream stream) const;  ///< null: nothing of it was under quota
  [[nodiscard]] std::shared_ptr<Lane> of_graphs(std::unique_lock<std::mutex>& held);
  /// A control block, with room for as many slots as a quota may say: which of them CTAs take does not depend on how many there
  /// are. Without the lock. @return null: no memory
  [[nodiscard]] static std::shared_ptr<Slot> slot(ContextState& context_state, bool watched);
  [[nodiscard]] bool send(Lane& lane, bool waits = true);  ///< the share, to device memory
  void ask_share(Lane& lane, const KernelDemand& in_front);
  void watch(Lane& lane);  ///< from here on the thread looks at it
  void wake();             ///< the thread sleeps: something is outstanding now
  [[nodiscard]] bool polls() const { return polls_; }
  /// Something enters a stream of the current context: waits where the driver would, for room in its queue, but not under the
  /// driver's lock.
  void enters(std::unique_lock<std::mutex>& held, CUstream stream);
  /// Before a stream waits for another's event: each such wait takes a channel of the process, and orders need one.
  void before_wait(std::unique_lock<std::mutex>& held, CUstream stream);
  void after_wait(std::unique_lock<std::mutex>& held, CUstream stream);
  [[nodiscard]] std::size_t room() const;  ///< for things of a stream behind a launch that may sleep
  /// The same, or where blocks wait for what the program does next: behind them may stand what the driver takes.
  [[nodiscard]] bool is_full(const Lane& lane) const;
  [[nodiscard]] bool stream_begins();                    ///< of the program, and it is not made yet. @return crowded()
  void make_spares(std::unique_lock<std::mutex>& held);  ///< of the current context. @pre nothing sleeps
  [[nodiscard]] bool crowded() const;  ///< soon there are more streams than channels, those of a context_state included
  void stream_ends(CUstream stream);
  /// Reads what it has counted: it may end in the call that follows.
  void may_end(CUcontext context);
  /// @param gone  its id, where it has ended by a way that nobody saw, and what it had counted with it
  /// @param read  by may_end(). @return null: nothing of it is here
  [[nodiscard]] std::shared_ptr<ContextState> context_ends(CUcontext context, ContextId gone = 0, bool read = false);
  void forget();  ///< in a forked child: the parent's are not its own
  struct Sums {
    std::uint64_t violations = 0, naps = 0, raises = 0, later_grids = 0, orders = 0;
    struct Checked {
      std::uint64_t blocks = 0, wrong = 0;  ///< runs of all; blocks that ran another number of times than they were launched
    };
    std::map<std::string, Checked> checked{};                         ///< SLUICE_CHECK: by the kernel in front
    std::map<std::string, std::map<std::string, unsigned>> placed{};  ///< kernel in front: SMs by the most CTAs that they held
    bool known = true;                                                ///< all control blocks could be read
  };
  /// Where SLUICE_CHECK wants it: how often each block of the launch runs, if its grid is as that of the lane's first.
  static void count_runs(std::unique_lock<std::mutex>& held, const Lane& lane, Slot& slot, SluiceJob& job);
  /// @param of  the lanes that are looked at; null: all. Those of contexts that have ended are in it.
  [[nodiscard]] Sums sums(const ContextState* of = nullptr);
  [[nodiscard]] std::size_t outstanding(std::optional<GpuNumber> gpu = {}) const;  ///< lanes; of a GPU, or of all
  /// A launch whose blocks wait for others has CTAs, and has ended no block for a while: perhaps they wait for what is to come.
  [[nodiscard]] bool one_stands_still() const;
  /// Waits, without the lock, until something in the lanes has changed, or for a millisecond.
  void wait_for_change(std::unique_lock<std::mutex>& held) { changed_.wait_for(held, std::chrono::milliseconds(1)); }

 private:
  [[nodiscard]] std::size_t held_channels() const;            ///< at most
  using StreamId = std::pair<ContextId, unsigned long long>;  // of its context, and its own: never used again
  struct Look;
  struct Queue {  // of a stream, while launches of others had not ended: it may wait for an event behind one that sleeps
    std::size_t entered = 0;
    Event marker;  ///< behind half of what it may hold
    Event behind;  ///< a wait for another stream's event; null: there was none
  };
  struct Place {  // that is looked at
    std::shared_ptr<Lane> lane;
    std::shared_ptr<Slot> slot;
    std::uint64_t order = 0;  ///< in device memory when the look began; 0: not known
  };
  void run();
  void take_orders();
  void send_orders();
  void glance(std::span<const LaneId> ids);
  [[nodiscard]] bool step();  // @return something is outstanding
  [[nodiscard]] bool step(const std::shared_ptr<Lane>& lane, Clock::time_point now, std::vector<Place>& due);
  void begin_look(ContextState& context_state, std::vector<Place> due);
  bool see(ContextState& context_state);  // @return its look has come
  void hear(Lane& lane, Slot& slot);
  void give_up(Lane& lane);          ///< nothing of it is on the GPU any more, whoever has told
  void answer_eviction(Lane& lane);  ///< where it is ordered: nobody holds a slot any more
  void look(const Place& place, const std::byte* counters, Clock::time_point now);
  void help(Lane& lane, Slot& slot, const Look& seen, Clock::time_point now);
  [[nodiscard]] std::vector<std::shared_ptr<Lane>> all() const;
  [[nodiscard]] std::shared_ptr<Lane> make_lane(std::unique_lock<std::mutex>& held,
                                                const std::shared_ptr<ContextState>& context_state, bool stream);
  std::mutex& lock_;
  std::condition_variable changed_;
  std::mutex orders_lock_;  // of the following: taken last
  std::condition_variable moved_;
  std::map<LaneId, Share> asked_;
  std::set<GpuNumber> gone_;  ///< nobody decides there any more
  bool poked_ = false;
  std::map<GpuNumber, std::shared_ptr<IShares>> shares_;
  std::map<ContextId, std::shared_ptr<ContextState>> contexts_;
  std::set<ContextId> making_;                             ///< their states are being made
  std::map<ContextState*, std::vector<Place>> looked_at_;  ///< by the look that is under way
  std::map<StreamId, std::shared_ptr<Lane>> streams_;
  std::map<StreamId, Queue> queues_;
  std::map<ContextId, std::shared_ptr<Lane>> graphs_;
  std::vector<std::pair<std::shared_ptr<Lane>, Event>> retired_;  // of streams that have ended; when their work has
  LaneId next_ = 1;
  Sums counted_;
  Sums with_what_may_end_;  ///< counted_, and what the context had that may_end() was told of
  bool running_ = false, polls_ = false;
  std::atomic<Clock::time_point> quiet_until_{};      ///< a thread waits for CTAs that leave: the lanes' own leaves it the lock
  std::size_t streams_made_ = 0, streams_ended_ = 0;  ///< by the program
  Clock::time_point hurry_;                           // looks often until then
};

}  // namespace sluice::interpose
