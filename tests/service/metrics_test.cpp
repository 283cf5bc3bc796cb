// SPDX-License-Identifier: Apache-2.0
// What Prometheus is told, as it asks for it.
#include "sw/service/metrics.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "sw/core/errors.h"
#include "tests/support.h"

namespace sluice::service {
namespace {

constexpr const char* kStatus =
    R"({"scheduler":"piv","clients":[{"pid":71,"name":"a \"b\"\n\\","gpu":"GPU-1","share_ctas":528,"evictions":3,
  "memory":{"limit":0,"used":1048576,"most":0,"refused":6},
  "waited_ms":1500.0,"kernels":{"quota":{"launches":4,"gpu_ms":2000.0},"native":{"launches":1,"gpu_ms":0.5}}}],
  "decisions":9,"lost":2})";

class Metrics : public test::Scratch {
 protected:
  [[nodiscard]] UniqueFd reader() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address;
    address_of(path_, address);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  /// What is told to one who asks `parts`, with pauses between them. The endpoint drops who is silent for a second, as anybody
  /// may be on a busy machine: then it is asked again.
  [[nodiscard]] static std::string ask(const std::function<UniqueFd()>& connect, std::initializer_list<std::string_view> parts) {
    std::string all;
    for (int tries = 0; all.empty() && tries < 60; ++tries) {
      const UniqueFd fd = connect();
      for (const std::string_view part : parts) {
        if (part.data() != parts.begin()->data()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        (void)::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL);
      }
      std::array<char, 4096> some{};
      for (ssize_t n = 0; (n = ::recv(fd.get(), some.data(), some.size(), 0)) > 0;)
        all.append(some.data(), static_cast<std::size_t>(n));
    }
    return all;
  }
  [[nodiscard]] std::string ask(std::initializer_list<std::string_view> parts) const {
    return ask([this] { return reader(); }, parts);
  }

  const std::string path_ = folder_ / "m";
};

TEST_F(Metrics, EachFigureHasItsUnitAndLabels) {
  const std::string text = metrics_text(kStatus);
  for (const char* line : {"# TYPE sluice_decisions_total counter\nsluice_decisions_total 9\n", "\nsluice_lost_clients_total 2\n",
                           "# TYPE sluice_gpu_seconds_total counter\nsluice_gpu_seconds_total{pid=\"71\",program=\"a "
                           "\\\"b\\\"\\n\\\\\",gpu=\"GPU-1\",way=\"quota\"} 2\n",
                           "way=\"native\"} 0.0005\n",
                           "\nsluice_launches_total{pid=\"71\",program=\"a \\\"b\\\"\\n\\\\\",gpu=\"GPU-1\",way=\"quota\"} 4\n",
                           "\nsluice_waited_seconds_total{pid=\"71\",program=\"a \\\"b\\\"\\n\\\\\",gpu=\"GPU-1\"} 1.5\n",
                           "} 528\n", "} 3\n", "} 1048576\n", "} 6\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in\n" << text;
}

TEST_F(Metrics, AnswersOneAfterTheOtherAndSaysWhatIsWrong) {
  std::atomic<bool> works = true;
  const MetricsEndpoint endpoint(path_, [&works]() -> std::string { return works ? kStatus : throw std::runtime_error("gone"); });
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms{0600});
  const UniqueFd silent = reader();  // holds the others up for a second at most
  const std::string told = ask({"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"});
  EXPECT_TRUE(told.starts_with("HTTP/1.1 200 OK\r\n")) << told;
  EXPECT_TRUE(told.ends_with("\r\n\r\n" + metrics_text(kStatus))) << told;
  EXPECT_NE(told.find("Content-Length: " + std::to_string(metrics_text(kStatus).size()) + "\r\n"), std::string::npos);
  EXPECT_TRUE(ask({"GET / HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 404")) << "only /metrics";
  works = false;
  EXPECT_TRUE(ask({"GET /metrics HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 503")) << "the daemon is gone";
}

TEST_F(Metrics, ItsSocketGoesWithIt) {
  {
    const MetricsEndpoint endpoint(path_, [] { return kStatus; });
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Metrics, RefusesPlacesInOneLine) {
  const auto refused = [](const std::string& place) {
    try {
      const MetricsEndpoint endpoint(place, [] { return kStatus; });
    } catch (const InputError& error) {
      return std::string(error.what()).starts_with("--metrics " + place + ": ");
    }
    return false;
  };
  for (const char* place : {"127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:80x", "9400", "/nowhere/m", "/tmp"})
    EXPECT_TRUE(refused(place)) << place;
}

TEST_F(Metrics, AnotherServicesPlaceStaysIts) {
  const MetricsEndpoint first(path_, [] { return kStatus; });
  EXPECT_THROW(MetricsEndpoint(path_, [] { return kStatus; }), InputError);
  EXPECT_TRUE(ask({"GET /metrics HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 200")) << "the first answers on";
}

TEST_F(Metrics, ARequestMayComeInPieces) {
  const MetricsEndpoint endpoint(path_, [] { return kStatus; });
  EXPECT_TRUE(ask({"GET /met", "rics HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 200"));
}

TEST_F(Metrics, ListensOnThisMachineAlone) {
  std::optional<MetricsEndpoint> endpoint;
  int port = 20000 + ::getpid() % 20000;
  for (const int last = port + 100; !endpoint && port < last;) try {  // somebody may have one of them
      endpoint.emplace("127.0.0.1:" + std::to_string(++port), [] { return kStatus; });
    } catch (const InputError&) {
    }
  ASSERT_TRUE(endpoint);
  const auto at = [&](std::uint32_t host) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address{AF_INET, htons(static_cast<std::uint16_t>(port)), {htonl(host)}, {}};
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? std::move(fd) : UniqueFd();
  };
  EXPECT_TRUE(ask([&] { return at(INADDR_LOOPBACK); }, {"GET /metrics HTTP/1.0\r\n\r\n"}).starts_with("HTTP/1.1 200 OK"));
  EXPECT_FALSE(at(INADDR_LOOPBACK + 1)) << "127.0.0.2: it would be open to other addresses, too";
}

}  // namespace
}  // namespace sluice::service
