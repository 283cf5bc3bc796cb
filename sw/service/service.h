// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/service/i_executor.h"
#include "sw/service/kernel_times.h"
#include "sw/service/protocol.h"

namespace sluice::service {

using SessionId = Quantity<struct SessionIdTag, std::uint32_t>;  ///< counts up from 1; never used again

using GpuId = std::array<std::uint8_t, 16>;             ///< its UUID; zeros: nobody has said it
[[nodiscard]] std::string to_string(const GpuId& gpu);  ///< "GPU-..." as nvidia-smi has it; empty: nobody has said it

/// Who is at the other end of a session.
struct Peer {
  std::int32_t pid = 0;
  bool root = false;
  std::int32_t thread_priority = 0;  ///< of its main thread (sw/scheduler/priority.h)
};

/// What the daemon sends. `text`: of StatusText, in a file that goes with it. The page goes with Welcome.
struct Outgoing {
  SessionId session;
  std::vector<std::byte> message;
  std::string text{};
};

enum class ExecutorKind { Fake, Gpu };

struct ServiceOptions {
  std::string scheduler;  ///< its name, for the status
  ExecutorKind executor = ExecutorKind::Fake;
  bool isolate = false;  ///< executor Gpu: one session holds the GPU at a time
  /// Executor Gpu: whether the contexts of all others are lost when this process has died with work on the GPU, or (0) a
  /// client says that its own has failed; null: never.
  std::function<bool(pid_t)> takes_others{};
  /// Executor Gpu: whether this process, which has died before it had a session, has left others without a GPU; null: never.
  std::function<bool(pid_t)> blocks_others{};
  /// Executor Gpu: a scheduler for another GPU that a client reports, and what will be learned there. Without it there is one.
  std::function<std::unique_ptr<IScheduler>(const MachineConfig&, const std::shared_ptr<KernelTimes>&)> make_scheduler{};
  bool any_machine = false;  ///< with make_scheduler: GPUs are as clients report them; else every one is as the first machine
  bool hold = false;         ///< executor Gpu: clients hold what cannot be transformed to their turns
  std::uint64_t memory = 0;  ///< bytes of a GPU's memory that a client may allocate; 0: any
  std::map<std::string, BalanceWish> wishes{};  ///< of scheduler balance, for the kernels of the client of that name
  std::shared_ptr<KernelTimes> times{};         ///< executor Gpu: of the first GPU; null: nothing learns
  std::filesystem::path learned{};              ///< where times are kept, a file for each GPU; empty: nowhere
  std::size_t most_sessions = 64;
  Time hello_within = std::chrono::seconds(1);
  FakeCosts costs{};
};

/// The service without sockets, processes and clocks: messages in, messages and words of pages out. Jobs run on an executor: the
/// fake one, or the clients themselves. Each GPU has a scheduler and an executor of its own, and each session a GPU. All that a
/// client can do wrong ends as an Error to that client.
class Service {
 public:
  using Log = std::function<void(const std::string& line)>;
  /// @param decisions  gets a JSON line for each call of the scheduler; @param events  a line for each session that ends badly
  Service(const MachineConfig& machine, std::unique_ptr<IScheduler> scheduler, ServiceOptions options, Log decisions = {},
          Log events = {});
  ~Service();

  /// @param page  outlives the session; is cleared here
  /// @return nullopt and an Error to send to nobody's session when there are too many: the caller sends `refused`
  [[nodiscard]] std::optional<SessionId> open(const Peer& peer, Page& page, Time now);
  /// Any bytes. Nothing when the session is closed.
  void handle(SessionId session, std::span<const std::byte> message, Time now);
  /// Its process or its socket is gone; its page as well when this returns. Nothing when it is closed.
  void lost(SessionId session, Time now);
  /// This process has said that it begins, and neither it nor a session of it has ended.
  [[nodiscard]] bool begun(pid_t process) const { return begun_.contains(process); }
  void ended(pid_t process, Time now);  ///< nothing where it has not begun
  /// Its socket does not take the answers.
  void too_slow(SessionId session, Time now);
  void shutdown(Time now);  ///< an Error to every session, and its end

  void advance(Time now);                          ///< decides, and tells the clients; to be called after every batch of messages
  [[nodiscard]] std::optional<Time> next() const;  ///< when to advance without a message
  void tell_decisions();                           ///< writes the log; to be called when the clients have been told
  [[nodiscard]] std::uint64_t orders() const { return orders_; }  ///< to leave the GPU, that clients were given
  [[nodiscard]] bool awaits_leaving() const;                      ///< one of them was not answered yet
  [[nodiscard]] std::vector<Outgoing> take_outgoing();
  /// Sessions that ended by themselves since the last call: what is outgoing for them is to be sent first.
  [[nodiscard]] std::vector<SessionId> take_closed();

  [[nodiscard]] std::string status_json(Time now) const;
  static constexpr Time kStatusLife = std::chrono::milliseconds(20);  ///< for which STATUS is answered with the same text
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t open_jobs() const;  ///< of all GPUs
  [[nodiscard]] std::uint64_t decisions() const;
  [[nodiscard]] std::uint64_t lost_sessions() const { return lost_; }
  /// Contexts were lost since the last call: what they lived in is to be started anew.
  [[nodiscard]] bool take_context_loss() { return std::exchange(contexts_lost_, false); }

 private:
  struct Gpu;
  struct Taken;
  struct Covered;
  struct Session;
  class Logged;
  struct Refusal;

  void dispatch(Session& session, std::span<const std::byte> message, Time now);
  void take(Session& session, const Hello& m);
  void take(Session& session, const Register& m);
  void take(Session& session, const Priority& m);
  void take(Session& session, const Submit& m, Time now);
  void take(Session& session, const Release& m);
  void take(Session& session, const TakeStub& m, Time now);
  void take(Session& session, const Report& m, Time now);
  void take(Session& session, const Machine& m);
  void take(Session& session, const Coverage& m, Time now);
  [[nodiscard]] Taken& taken(Session& session, std::uint32_t stub);
  [[nodiscard]] static nlohmann::ordered_json kernels_json(const Session& session, Time held);
  void make_executor(Gpu& gpu, std::unique_ptr<IScheduler> scheduler);
  [[nodiscard]] Gpu& gpu_of(const Session& session, const Machine& m);
  [[nodiscard]] bool used(const Gpu& gpu, const Session* but) const;  ///< by a session that has said so
  [[nodiscard]] std::size_t open_jobs(const Gpu& gpu) const;
  void answer(const Session& session, std::uint32_t value, std::int32_t priority);
  void say(const Session& session, const Refusal& refusal, bool fatal);
  void end(SessionId id, Time now, bool lost);
  [[nodiscard]] static bool on_gpu(const Session& session);
  void fails(const Session& session, Time now);  ///< it has said so: perhaps others' contexts have, too
  void leaves(const Session& session, Time now, bool died);
  void contexts_end(const std::string& why, Time now);
  void update(Session& session, Time now);
  void say_late(const Session& session, const KernelDescriptor& kernel, Leaving how) const;
  static void note_share(Session& session, const KernelDescriptor& kernel, const Share& share);
  template <class Message>
  void send(SessionId to, const Message& message, std::string text = {});

  ServiceOptions options_;
  Log events_;
  Log decisions_;
  std::uint64_t calls_before_ = 0;  ///< of schedulers that are gone
  std::list<Gpu> gpus_;             ///< the first is that of sessions which have not said theirs
  std::map<SessionId, Session> sessions_;
  std::vector<Outgoing> outgoing_;
  std::vector<SessionId> closed_;
  std::uint32_t last_session_ = 0;
  std::uint64_t lost_ = 0, orders_ = 0;
  std::set<pid_t> begun_;
  bool contexts_lost_ = false;
  std::string status_;  ///< the last that was told
  Time status_until_{};
};

/// The Error of a connection that gets no session.
[[nodiscard]] Error refusal(Code code, std::string_view text);

}  // namespace sluice::service
