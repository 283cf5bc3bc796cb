// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sw/driver/axi_lite_manager.h"
#include "sw/driver/sluice_driver.h"
#include "systemc/unit/ports/i_sluice_top.h"
#include "tb/common/random.h"

namespace sluice::tb {

template <class T>
using PerSlot = std::array<T, 8>;

/// A unit between a host, a front end and SMs that hang and die, booked by the events at its ports alone, in the words of the
/// pages for an integrator. What is wrong is kept: the first that is.
class EdgesWorld {
 public:
  struct Kernel {
    LaunchRequest launch;
    bool of_the_port = false, stopped = false, evicted = false, flush_asked = false, flushed = false, endless = false;
    std::uint32_t next = 0, running = 0;
    std::optional<std::uint8_t> tag{};
    std::uint64_t waits = 0;    ///< cycles without a CTA that count
    unsigned hung_waiting = 0;  ///< SMs that hung meanwhile
    [[nodiscard]] bool wants() const { return !stopped && !flush_asked && !evicted && next < launch.ctas; }
  };
  struct Counts {
    std::uint64_t launches = 0, handed_back = 0, refused = 0, completed = 0, stopped = 0, flushed = 0;  ///< kernels
    std::uint64_t ctas = 0, given_up = 0, taken_back = 0, late = 0, bad_reports = 0, hangs = 0, resets = 0;
    std::uint64_t lone = 0, long_waits = 0, longest_wait = 0, longest_flush = 0;
  };

  EdgesWorld(std::unique_ptr<ISluiceTop> top, const regs::Parameters& parameters, std::uint64_t seed);

  void run(std::uint64_t cycles) {
    for (std::uint64_t c = 0; c < cycles; ++c) cycle({});
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::optional<Kernel>& kernel(unsigned slot) const { return kernels_[slot]; }
  [[nodiscard]] bool empty() const;                                       ///< no kernel, and no launch that the port took
  [[nodiscard]] bool has_context(std::uint8_t context) const;             ///< among the kernels, or the next launch
  [[nodiscard]] bool offers(std::optional<std::uint8_t> context) const {  ///< a launch that the port has not taken
    return in_.launch.valid && context.value_or(in_.launch.launch.context) == in_.launch.launch.context;
  }
  [[nodiscard]] Random& random() { return random_; }

  // What the host does. Each takes some cycles.
  void configure();
  void reset(bool sms_too);
  void launch(unsigned slot);  ///< of a FREE slot of the host's
  void set_mode(Mode mode);
  void set_static(unsigned slot, std::uint32_t quota, std::uint32_t mask);
  void stop(unsigned slot);
  void evict(unsigned slot, std::uint32_t ctas);
  void resume(unsigned slot);
  void flush(unsigned slot);
  void flush_context(std::uint8_t context);
  void flush_all();
  void give_to_port(std::uint32_t slots);
  /// What ERROR must say is read, compared and cleared.
  void check_errors();
  /// All is at rest: the registers and idle_o say so, and KERNEL_DONE names every slot that ended a kernel.
  void check_rest();
  /// Runs until `done`. More than `limit` cycles, without those that a report or a slow port takes, are wrong.
  void wait(const char* what, std::uint64_t limit, const std::function<bool()>& done);
  [[nodiscard]] std::uint64_t flush_limit(unsigned kernels) const;

  // What the world does.
  void offer_launches(double rate) { rate_ = rate; }
  void silence_context(std::uint8_t context) { silent_ = context; }
  void hang_an_sm(std::uint64_t cycles) { hang_next_ = cycles; }
  void revive();
  void stick_the_port(std::uint64_t cycles) { stuck_until_ = now_ + cycles; }
  void report_nonsense() { nonsense_ = true; }

 private:
  struct Cta {
    std::uint8_t sm = 0, slot = 0, kernel = 0, tag = 0;
    bool endless = false;
    std::uint64_t ends = 0;
    unsigned moves = 0;  ///< of its kernel slot's tag, when it was given up
  };
  struct Sm {
    std::map<std::uint8_t, Cta> ctas;
    std::uint32_t warps = 0, registers = 0, shared = 0;
    std::uint64_t hung_until = 0;
  };

  AxiLiteOut cycle(const AxiLiteIn& pins);
  void fail(const std::string& what);
  void expect(regs::Field error) {
    expected_ |= error.put(1);
    recent_ |= error.put(1);
  }
  void write(std::uint32_t address, std::uint32_t data);
  void command(unsigned slot, std::uint32_t data);
  [[nodiscard]] std::uint32_t read(std::uint32_t address);
  [[nodiscard]] bool hung(std::size_t sm) const { return sms_[sm].hung_until > now_; }
  [[nodiscard]] bool room(const Kernel& kernel, const Sm& sm) const;
  [[nodiscard]] bool can_fit(const LaunchRequest& launch) const;
  LaunchRequest some_launch();
  void drive();
  void drive_reports();
  void drive_activity();
  void finish(unsigned slot);
  void told(const SluiceTopOut& out);
  void start(const SluiceTopOut& out);
  void give_up(const SluiceTopOut& out);
  void end(Sm& sm, std::uint8_t slot);
  void judge_waits(const SluiceTopOut& out);
  void disturbed();

  std::unique_ptr<ISluiceTop> top_;
  regs::Parameters parameters_;
  Random random_;
  AxiLiteBus bus_;
  SluiceTopIn in_;
  std::uint64_t now_ = 0;
  std::string wrong_;
  Counts counts_;
  PerSlot<std::optional<Kernel>> kernels_;
  struct Taken {
    LaunchRequest launch;
    bool purged = false;  ///< a flush met it in the queue, or in its slot
  };
  std::deque<Taken> taken_;  ///< by the port, not told of yet
  std::vector<Sm> sms_;
  std::deque<Cta> late_;
  PerSlot<unsigned> moves_{};                ///< of each kernel slot's tag
  std::optional<SluiceTopOut> at_the_port_;  ///< not taken in the cycle before
  std::uint64_t arrived_ = 0;                ///< since when the CTA at the port is there; what is set later is not about it
  LaunchRequest capacity_;                   ///< of an SM; ctas: its CTA slots
  Mode mode_ = Mode::LeftOver;
  std::uint64_t mode_since_ = 0;
  struct Static {
    std::uint32_t quota = 0, mask = ~0U;
    std::uint64_t since = 0;
  };
  PerSlot<Static> static_;
  PerSlot<std::uint64_t> commanded_{};  ///< until then a command may meet the next kernel of this slot
  std::uint32_t port_slots_ = 0, done_ = 0, expected_ = 0, allowed_ = 0, recent_ = 0, recently_done_ = 0, may_be_done_ = 0;
  double rate_ = 0;
  std::uint8_t silent_ = 0;
  std::uint64_t hang_next_ = 0, stuck_until_ = 0, excused_ = 0, unused_ = 0;
  bool nonsense_ = false;
};

}  // namespace sluice::tb
