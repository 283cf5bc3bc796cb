// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages and shared page of the service, as docs/reference/service_protocol.md says. Plain types, no other header of the
// project: the client library uses it, too.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice::service {

inline constexpr std::uint32_t kVersion = 6;
inline constexpr std::uint32_t kStubs = 63;      ///< of one session: with the page's head 4,096 bytes
inline constexpr std::uint32_t kKernels = 4096;  ///< of one session
inline constexpr std::uint32_t kAllStubs = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kAnyStub = kAllStubs;  ///< of `TakeStub`: one that is free
inline constexpr std::int32_t kThreadPriority = std::numeric_limits<std::int32_t>::min();
inline constexpr std::uint64_t kMaxTaskNs = 1'000'000'000'000;

enum class Type : std::uint16_t {
  Hello = 1,
  Register,
  Priority,
  Submit,
  Release,
  Status,
  Bye,
  TakeStub,
  Report,
  Machine,
  Coverage,
  Memory,
  Failed,
  Begins,
  Welcome = 128,
  Ok,
  StatusText,
  Error,
  Changed,
};

enum class Code : std::uint32_t {
  Malformed = 1,
  OutOfOrder,
  Version,
  NotAdmitted,
  Full,
  UnknownStub,
  Busy,
  Invalid,
  TooSlow,
  Shutdown,
  ContextLost,
};
[[nodiscard]] constexpr const char* to_string(Code code) {
  constexpr std::array kNames = {"malformed", "out_of_order", "version",  "not_admitted", "full",        "unknown_stub",
                                 "busy",      "invalid",      "too_slow", "shutdown",     "context_lost"};
  const auto at = static_cast<std::size_t>(code) - 1;
  return at < kNames.size() ? kNames[at] : "unknown";
}

struct Header {
  std::uint16_t type, bytes;
  std::uint32_t sequence;
};
struct Hello {
  static constexpr Type kType = Type::Hello;
  Header header;
  std::uint32_t version;
  std::int32_t priority;
  char name[64];
};
struct Register {
  static constexpr Type kType = Type::Register;
  Header header;
  std::uint32_t block_threads, registers, shared_bytes, reserved;
  std::uint64_t module;  ///< what tells its name from the same one of another program; 0: nothing
  char name[256];
};
struct Priority {
  static constexpr Type kType = Type::Priority;
  Header header;
  std::uint32_t stub;
  std::int32_t priority;
};
struct Submit {
  static constexpr Type kType = Type::Submit;
  Header header;
  std::uint32_t stub, reserved;
  std::uint64_t tasks, task_ns;
};
struct Release {
  static constexpr Type kType = Type::Release;
  Header header;
  std::uint32_t stub, reserved;
};
struct Status {
  static constexpr Type kType = Type::Status;
  Header header;
};
struct Bye {
  static constexpr Type kType = Type::Bye;
  Header header;
};
struct TakeStub {
  static constexpr Type kType = Type::TakeStub;
  Header header;
  std::uint32_t stub, kernel;
};
/// What a client says of a launch that runs in its process. Has no answer.
enum class What : std::uint32_t { Progress, LastTaskBegun, Evicted, Done };
struct Report {
  static constexpr Type kType = Type::Report;
  Header header;
  std::uint32_t stub, what;
  std::uint64_t tasks_begun, tasks_done;
};
struct Machine {
  static constexpr Type kType = Type::Machine;
  Header header;
  std::uint32_t sms, threads, registers, shared_bytes, cta_slots, reserved;
  std::array<std::uint8_t, 16> gpu;  ///< its UUID; zeros: not known
};
/// How a kernel's launches ran, of the whole session until now. Has no answer.
enum class Way : std::uint32_t { Quota, Native };
struct Coverage {
  static constexpr Type kType = Type::Coverage;
  Header header;
  std::uint32_t way, reserved;
  std::uint64_t launches, gpu_ns, module;  ///< module: as in Register
  char name[256], reason[160];
};
/// What the client has of the GPU's memory, and its allocations that were beyond its limit. Has no answer.
struct Memory {
  static constexpr Type kType = Type::Memory;
  Header header;
  std::uint64_t used, most, refused;
};
/// The client's context has failed, by a fault of its own or of another client. Has no answer.
struct Failed {
  static constexpr Type kType = Type::Failed;
  Header header;
};
/// The process that says so becomes a program that may use the GPU. Has no answer.
struct Begins {
  static constexpr Type kType = Type::Begins;
  Header header;
};

struct Welcome {
  static constexpr Type kType = Type::Welcome;
  Header header;
  std::uint32_t session, stubs;
  std::int32_t priority;
  std::uint32_t flags;   ///< kHold
  std::uint64_t memory;  ///< bytes of the GPU's that the client may allocate; 0: any
};
inline constexpr std::uint32_t kHold = 1;  ///< launches without a transformed form wait for the client's turn
struct Ok {
  static constexpr Type kType = Type::Ok;
  Header header;
  std::uint32_t value;
  std::int32_t priority;
};
struct StatusText {
  static constexpr Type kType = Type::StatusText;
  Header header;
  std::uint64_t length;
};
struct Error {
  static constexpr Type kType = Type::Error;
  Header header;
  std::uint32_t code, fatal;
  char text[240];
};
struct Changed {
  static constexpr Type kType = Type::Changed;
  Header header;
  std::uint32_t stub, reserved;
};
static_assert(sizeof(Header) == 8 && sizeof(Hello) == 80 && sizeof(Register) == 288 && sizeof(Priority) == 16);
static_assert(sizeof(Submit) == 32 && sizeof(Release) == 16 && sizeof(Status) == 8 && sizeof(Bye) == 8);
static_assert(sizeof(TakeStub) == 16 && sizeof(Report) == 32 && sizeof(Machine) == 48 && sizeof(Coverage) == 456);
static_assert(sizeof(Memory) == 32 && sizeof(Failed) == 8 && sizeof(Begins) == 8);
static_assert(sizeof(Welcome) == 32 && sizeof(Ok) == 16 && sizeof(StatusText) == 16 && sizeof(Error) == 256 &&
              sizeof(Changed) == 16);
inline constexpr std::size_t kLongestMessage = sizeof(Coverage);

/// A message with its header filled in.
template <class Message>
[[nodiscard]] Message make(std::uint32_t sequence) {
  Message m{};
  m.header = {static_cast<std::uint16_t>(Message::kType), sizeof(Message), sequence};
  return m;
}

/// States of a stub: EffiSha's seven, and the numbers that the page has.
enum class StubState : std::uint8_t { Free, Prep, Ready, ToRun, Running, ToEvict, Done };

/// State and share of a stub, one word of the page.
struct StubWord {
  StubState state = StubState::Free;
  std::uint16_t ctas = 0, first_sm = 0, sms = 0;
  std::uint8_t evictions = 0;  ///< of the launch until now, modulo 256: which order to leave it is
  std::uint8_t parts = 0;      ///< 32nds of an SM for the job's other kernels; 0: as much as the CTAs are

  [[nodiscard]] constexpr std::uint64_t packed() const {
    return static_cast<std::uint64_t>(state) | std::uint64_t{parts} << 3U | std::uint64_t{ctas} << 8U |
           std::uint64_t{first_sm} << 24U | std::uint64_t{sms} << 40U | std::uint64_t{evictions} << 56U;
  }
  [[nodiscard]] static constexpr StubWord of(std::uint64_t word) {
    return {static_cast<StubState>(word & 7U),       static_cast<std::uint16_t>(word >> 8U),
            static_cast<std::uint16_t>(word >> 24U), static_cast<std::uint16_t>(word >> 40U),
            static_cast<std::uint8_t>(word >> 56U),  static_cast<std::uint8_t>(word >> 3U & 31U)};
  }
};

/// Written by the daemon only, each field at once; `word` last. `changed_ns`: CLOCK_MONOTONIC when it was written.
struct Stub {
  std::uint64_t word;
  std::uint32_t job;
  std::int32_t priority;
  std::uint64_t tasks, tasks_begun, tasks_done, evictions, changed_ns;
  std::uint64_t granted;  ///< the last share that the launch was given; a StubWord, 0 CTAs: none yet
};
struct Page {
  static constexpr std::uint32_t kMagic = 0x50434c53;  ///< "SLCP"
  std::uint32_t magic, version, session, stubs;
  std::uint64_t unasked;  ///< share that a launch without one may take until it is given its own; a StubWord
  std::uint32_t reserved[10];
  Stub stub[kStubs];
};
static_assert(sizeof(Stub) == 64 && sizeof(Page) == 4096);

}  // namespace sluice::service
