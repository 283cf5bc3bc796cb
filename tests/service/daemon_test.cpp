// SPDX-License-Identifier: Apache-2.0
// The daemon on a real socket, with real processes, and clocks that do not look at the time.
#include "sw/service/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "sw/service/sluice_client.h"
#include "tests/service/harness.h"
#include "tests/support.h"

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

class DaemonTest : public test::Scratch {
 protected:
  void start(const std::string& scheduler, ServiceOptions options = {}) {
    options.hello_within = 100h;  // the clock jumps over the time that a client takes to say it
    service_.reset(new Service(make_service(scheduler, std::move(options))));
    daemon_ = std::make_unique<Daemon>(path_, *service_, clock_);
  }
  /// Steps the daemon in this thread until the child has ended. @return its status
  int serve(
      pid_t child, const std::function<void()>& first = [] {}) {
    const UniqueFd gone(static_cast<int>(::syscall(434, child, 0)));  // pidfd_open: readable when it has ended
    first();
    daemon_->run(gone.get());
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  const std::string path_ = folder_ / "s";
  JumpingClock clock_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Daemon> daemon_;
};

/// A child that runs `work` and exits with what it returns.
template <class Work>
pid_t fork_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

/// A client's whole life. @param die_at  the step before which it kills itself; 0: never
int live(const char* path, const char* name, int priority, int launches, int die_at = 0) {
  int step = 0;
  const auto next = [&] {
    if (++step == die_at) ::kill(::getpid(), SIGKILL);
  };
  sluice_session* session = nullptr;
  next();
  if (sluice_connect(path, name, priority, &session) != SLUICE_OK) return 10;
  next();
  sluice_stub stub = 0;
  const sluice_kernel kernel = {"k", 64, 1024, 0, 0};
  if (sluice_kernel_stub(session, &kernel, &stub) != SLUICE_OK) return 11;
  for (int k = 0; k < launches; ++k) {
    next();
    if (sluice_submit(session, stub, 40, 10'000) != SLUICE_OK) return 12;
    next();
    if (sluice_wait_share(session, stub, -1, nullptr) != SLUICE_OK) return 13;
    next();
    if (sluice_wait(session, stub, -1) != SLUICE_OK) return 14;
    sluice_granted granted{};  // a launch may be over before its owner looks: it is told its share all the same
    if (sluice_wait_share(session, stub, 0, &granted) != SLUICE_OK || granted.ctas == 0 || granted.sms == 0) return 17;
    sluice_progress p;
    if (sluice_read(session, stub, &p) != SLUICE_OK || p.tasks_done != 40 || p.state != SLUICE_DONE) return 15;
  }
  next();
  if (sluice_release(session, stub) != SLUICE_OK) return 16;
  next();
  sluice_disconnect(session);
  return 0;
}

TEST_F(DaemonTest, AClientInAnotherProcessGetsItsLaunchesDone) {
  start("piv");
  EXPECT_EQ(serve(fork_child([&] { return live(path_.c_str(), "a", 5, 3); })), 0);
  EXPECT_EQ(service_->sessions(), 0U);
  EXPECT_EQ(service_->lost_sessions(), 0U);
}

TEST_F(DaemonTest, AnIdleServiceSleeps) {
  start("piv");
  const UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  sluice_session* session = nullptr;
  std::thread daemon([&] { daemon_->run(stop.get()); });
  ASSERT_EQ(sluice_connect(path_.c_str(), "idle", 5, &session), SLUICE_OK) << sluice_last_error();
  ::eventfd_write(stop.get(), 1);
  daemon.join();
  // With a client and no launch nothing arms the clock: the next wake-up can only be a message.
  EXPECT_FALSE(service_->next());
  const std::uint64_t before = daemon_->wake_ups();
  const UniqueFd again(::eventfd(1, EFD_CLOEXEC));
  daemon_->run(again.get());
  EXPECT_EQ(daemon_->wake_ups() - before, 1U) << "the order to stop alone";
  sluice_disconnect(session);
}

TEST_F(DaemonTest, FiftyRandomKillsLeaveTheOthersAndNothingElse) {
  ServiceOptions slow;
  slow.costs.launch = 3us;
  slow.costs.evict = 5us;
  start("piv", slow);
  std::mt19937 random(26);
  const std::size_t descriptors = open_descriptors();
  const pid_t steady = fork_child([&] { return live(path_.c_str(), "steady", 5, 400); });
  int killed = 0;
  for (int k = 0; k < 50; ++k) {
    const int die_at = static_cast<int>(1 + random() % 10), priority = static_cast<int>(random() % 10);
    const int status = serve(fork_child([&] { return live(path_.c_str(), "victim", priority, 3, die_at); }));
    killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
  }
  EXPECT_EQ(killed, 50);
  EXPECT_EQ(serve(steady), 0) << "its launches were done, every one with 40 tasks";
  while (service_->sessions() != 0) daemon_->step();
  EXPECT_EQ(service_->open_jobs(), 0U);
  EXPECT_GT(service_->lost_sessions(), 30U);
  EXPECT_EQ(open_descriptors(), descriptors);
  std::ifstream maps("/proc/self/maps");
  const std::string text(std::istreambuf_iterator<char>(maps), {});
  EXPECT_EQ(text.find("sluice_page"), std::string::npos) << "pages of dead clients";
}

TEST_F(DaemonTest, AKilledDaemonIsNoticedAtOnce) {
  const pid_t daemon = fork_child([&] {
    start("piv");
    clock_.stopped = true;  // the launch never ends
    const UniqueFd never(::eventfd(0, EFD_CLOEXEC));
    daemon_->run(never.get());
    return 0;
  });
  sluice_session* session = nullptr;
  while (sluice_connect(path_.c_str(), "a", 5, &session) == SLUICE_ERROR_NO_SERVICE) std::this_thread::yield();
  const sluice_kernel kernel = {"k", 64, 1024, 0, 0};
  sluice_stub stub = 0;
  ASSERT_EQ(sluice_kernel_stub(session, &kernel, &stub), SLUICE_OK);
  ASSERT_EQ(sluice_submit(session, stub, 40, 10'000), SLUICE_OK);
  ASSERT_EQ(sluice_wait_share(session, stub, -1, nullptr), SLUICE_OK);
  sluice_error waited = SLUICE_OK;
  std::thread waiter([&] { waited = sluice_wait(session, stub, -1); });
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  waiter.join();
  EXPECT_EQ(waited, SLUICE_ERROR_GONE);
  EXPECT_EQ(sluice_submit(session, stub, 1, 1), SLUICE_ERROR_GONE);
  EXPECT_STREQ(sluice_last_error(), "the service is gone");
  sluice_progress p;
  EXPECT_EQ(sluice_read(session, stub, &p), SLUICE_OK);
  EXPECT_EQ(p.state, SLUICE_RUNNING) << "what it was then";
  sluice_disconnect(session);
  start("piv");  // takes the dead daemon's socket over
  EXPECT_EQ(serve(fork_child([&] { return live(path_.c_str(), "b", 5, 1); })), 0);
}

TEST_F(DaemonTest, RefusesASecondDaemonAndAFileThatIsNoSocket) {
  start("piv");
  Service other = make_service("piv");
  EXPECT_THROW(Daemon(path_, other, clock_), InputError);
  EXPECT_THROW(Daemon(write("file", "text").string(), other, clock_), InputError);
  EXPECT_THROW(Daemon(std::string(200, 'x'), other, clock_), InputError);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "file"));
  daemon_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DaemonTest, RefusesAnotherUser) {
  EXPECT_FALSE(admits(65534, 0));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  start("piv");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms{0600});
  ::chmod(path_.c_str(), 0666);  // as if the file's mode had not stopped it
  const int status = serve(fork_child([&] {
    if (::setuid(65534) != 0) return 1;
    sluice_session* session = nullptr;
    if (sluice_connect(path_.c_str(), "other", 5, &session) != SLUICE_ERROR_NO_SERVICE) return 2;
    if (!std::string(sluice_last_error()).ends_with("Permission denied"))
      return 3;  // the client asks for no other user's service
    sockaddr_un address;
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!address_of(path_, address) || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return 4;
    Error error{};
    if (receive_packet(socket.get(), std::as_writable_bytes(std::span(&error, 1))) != sizeof error) return 5;
    return std::string(error.text).starts_with("user 65534") ? 0 : 6;
  }));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(service_->sessions(), 0U);
}

/// Somebody else's server of this user, whose page could shrink under the client's feet.
TEST_F(DaemonTest, AClientTakesNoPageThatIsNotSealed) {
  sockaddr_un address;
  ASSERT_TRUE(address_of(path_, address));
  const UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  for (const int seals : {0, F_SEAL_SHRINK}) {
    std::thread server([&] {
      const UniqueFd peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      Hello asked{};
      (void)receive_packet(peer.get(), std::as_writable_bytes(std::span(&asked, 1)));
      const UniqueFd page(::memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
      EXPECT_EQ(::ftruncate(page.get(), sizeof(Page)), 0);
      (void)::fcntl(page.get(), F_ADD_SEALS, seals);
      const Welcome welcome = make<Welcome>(asked.header.sequence);
      (void)send_packet(peer.get(), std::as_bytes(std::span(&welcome, 1)), page.get());
    });
    sluice_session* session = nullptr;
    EXPECT_EQ(sluice_connect(path_.c_str(), "a", 5, &session), seals == 0 ? SLUICE_ERROR_GONE : SLUICE_OK);
    server.join();
    sluice_disconnect(session);
  }
}

TEST_F(DaemonTest, AClientCanNeitherWriteItsPageNorCutIt) {
  start("piv");
  EXPECT_EQ(serve(fork_child([&] {
              const UniqueFd socket = connect_to(path_);
              const Hello asks = hello();
              Welcome welcome{};
              UniqueFd page;
              if (!send_packet(socket.get(), bytes(asks))) return 1;
              if (receive_packet(socket.get(), std::as_writable_bytes(std::span(&welcome, 1)), &page) != sizeof welcome) return 2;
              if (::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0) != MAP_FAILED) return 3;
              if (::ftruncate(page.get(), 1) == 0 || ::ftruncate(page.get(), 1 << 20) == 0) return 4;
              if (::pwrite(page.get(), "x", 1, 0) > 0 || ::fcntl(page.get(), F_ADD_SEALS, F_SEAL_WRITE) == 0) return 5;
              return ::mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, page.get(), 0) == MAP_FAILED ? 6 : 0;
            })),
            0);
}

TEST_F(DaemonTest, WhoReadsNothingIsClosedAndTheOthersGoOn) {
  start("piv");
  const pid_t slow = fork_child([&] {
    const UniqueFd socket = connect_to(path_);
    const Hello asks = hello();
    bool goes = send_packet(socket.get(), bytes(asks));
    for (std::uint32_t sequence = 2; goes && sequence < 100'000; ++sequence) {
      Priority m = make<Priority>(sequence);
      m.stub = kAllStubs;
      m.priority = 5;
      goes = send_packet(socket.get(), bytes(m));
    }
    return goes ? 1 : 0;
  });
  EXPECT_EQ(serve(fork_child([&] { return live(path_.c_str(), "b", 5, 50); })), 0);
  EXPECT_EQ(serve(slow), 0) << "it was closed";
  while (service_->sessions() != 0) daemon_->step();
  EXPECT_EQ(service_->lost_sessions(), 1U);
}

TEST_F(DaemonTest, SilentConnectionsKeepNobodyOut) {
  start("piv");
  EXPECT_EQ(serve(fork_child([&] {
              std::vector<UniqueFd> silent(200);
              for (UniqueFd& each : silent) each = connect_to(path_);
              return live(path_.c_str(), "a", 5, 3);
            })),
            0);
}

/// No file in memory may grow: there is no page for who connects, and no file for a status.
TEST_F(DaemonTest, WithoutMemoryItRefusesAndTheOthersGoOn) {
  start("piv");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  std::array<int, 2> refused{};
  ASSERT_EQ(::pipe2(refused.data(), O_CLOEXEC), 0);
  const int status =
      serve(fork_child([&] {
              sluice_session* session = nullptr;
              sluice_stub stub = 0;
              const sluice_kernel kernel = {"k", 64, 1024, 0, 0};
              if (sluice_connect(path_.c_str(), "a", 5, &session) != SLUICE_OK) return 1;
              if (sluice_kernel_stub(session, &kernel, &stub) != SLUICE_OK) return 2;
              char go = 0;
              if (::read(refused[0], &go, 1) != 1) return 3;
              if (sluice_submit(session, stub, 40, 10'000) != SLUICE_OK) return 4;
              if (sluice_wait(session, stub, -1) != SLUICE_OK) return 5;
              sluice_disconnect(session);
              return 0;
            }),
            [&] {
              while (service_->sessions() == 0) daemon_->step();
              daemon_->step();
              ::setrlimit(RLIMIT_FSIZE, std::array{rlimit{0, limit.rlim_max}}.data());
              EXPECT_EQ(serve(fork_child([&] {
                          const UniqueFd socket = connect_to(path_);
                          Error error{};
                          if (receive_packet(socket.get(), std::as_writable_bytes(std::span(&error, 1))) != sizeof error)
                            return 1;
                          return error.code == static_cast<std::uint32_t>(Code::Full) ? 0 : 2;
                        })),
                        0);
              EXPECT_EQ(::write(refused[1], "x", 1), 1);
            });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  for (const int end : refused) ::close(end);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(serve(fork_child([&] { return live(path_.c_str(), "b", 5, 1); })), 0);
}

TEST_F(DaemonTest, RefusesAFolderThatOthersCanWrite) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  EXPECT_THROW(start("piv"), InputError);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.c_str(), 65534, 65534), 0);
    EXPECT_THROW(start("piv"), InputError) << "made by somebody else before us";
    ASSERT_EQ(::chown(folder_.c_str(), 0, 0), 0);
  }
  start("piv");
}

/// Whoever connects while no descriptor is left is refused; the daemon goes on, asleep.
TEST_F(DaemonTest, WithoutDescriptorsItRefusesAndSleeps) {
  start("piv");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int status =
      serve(fork_child([&] {
              const UniqueFd socket = connect_to(path_);
              Error error{};
              pollfd said{socket.get(), POLLIN, 0};
              if (::poll(&said, 1, 5000) != 1) return 1;
              if (receive_packet(socket.get(), std::as_writable_bytes(std::span(&error, 1))) != sizeof error) return 2;
              return error.code == static_cast<std::uint32_t>(Code::Full) ? 0 : 3;
            }),
            [&] {
              rlimit none = before;
              none.rlim_cur = static_cast<rlim_t>(UniqueFd(::dup(0)).get());  // the lowest number that is free: nobody gets one
              ::setrlimit(RLIMIT_NOFILE, &none);
            });
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(status, 0);
  EXPECT_LT(daemon_->wake_ups(), 10U);
  EXPECT_EQ(serve(fork_child([&] { return live(path_.c_str(), "a", 5, 1); })), 0);
}

TEST_F(DaemonTest, RefusesAnOversizedMessageAndDescriptorsDoNotLeak) {
  start("piv");
  const std::size_t descriptors = open_descriptors();
  const int status = serve(fork_child([&] {
    const UniqueFd socket = connect_to(path_);
    std::vector<std::byte> large(60'000);
    Header header{1, 60'000, 1};
    std::memcpy(large.data(), &header, sizeof header);
    if (!send_packet(socket.get(), large, 0)) return 1;
    Error e{};
    return receive_packet(socket.get(), std::as_writable_bytes(std::span(&e, 1))) == sizeof e &&
                   e.code == static_cast<std::uint32_t>(Code::Malformed)
               ? 0
               : 2;
  }));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(service_->sessions(), 0U);
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST_F(DaemonTest, AForkedProcessHasNoSession) {
  start("piv");
  const UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  std::thread daemon([&] { daemon_->run(stop.get()); });
  sluice_session* session = nullptr;
  ASSERT_EQ(sluice_connect(path_.c_str(), "a", 5, &session), SLUICE_OK);
  int status = -1;
  ::waitpid(fork_child([&] { return sluice_submit(session, 0, 1, 1) == SLUICE_ERROR_FORKED ? 0 : 1; }), &status, 0);
  EXPECT_EQ(status, 0);
  sluice_disconnect(session);
  ::eventfd_write(stop.get(), 1);
  daemon.join();
}

/// 16 clients at a time. SLUICE_FULL: 10^5 messages.
TEST_F(DaemonTest, SixteenClientsTalkAtATime) {
  start("dprr");
  const int launches = std::getenv("SLUICE_FULL") != nullptr ? 6250 / 2 : 60;
  const UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  std::thread daemon([&] { daemon_->run(stop.get()); });
  std::atomic<std::uint64_t> messages = 0, wrong = 0;
  std::vector<std::thread> clients;
  for (int k = 0; k < 16; ++k)
    clients.emplace_back([&, k] {
      sluice_session* session = nullptr;
      sluice_stub stub = 0;
      const sluice_kernel kernel = {"k", 64, 1024, 0, 0};
      wrong += sluice_connect(path_.c_str(), "a", k, &session) != SLUICE_OK;
      wrong += sluice_kernel_stub(session, &kernel, &stub) != SLUICE_OK;
      for (int i = 0; i < launches; ++i) {
        wrong += sluice_set_priority(session, stub, i % 30, nullptr) != SLUICE_OK;
        wrong += sluice_submit(session, stub, 8, 1'000) != SLUICE_OK;
        wrong += sluice_wait(session, stub, -1) != SLUICE_OK;
        messages += 2;
      }
      sluice_disconnect(session);
    });
  for (std::thread& client : clients) client.join();
  ::eventfd_write(stop.get(), 1);
  daemon.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(messages, 32U * static_cast<unsigned>(launches));
}

}  // namespace
}  // namespace sluice::service
