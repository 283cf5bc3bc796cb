// SPDX-License-Identifier: Apache-2.0
#include "sw/service/metrics.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/time.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"

namespace sluice::service {

namespace {

/// A figure of each client. `of` is a path into its JSON; `scale` brings it to the metric's unit.
struct Metric {
  const char *name, *type, *help, *of, *labels;
  double scale;
};
constexpr Metric kMetrics[] = {
    {"sluice_gpu_seconds_total", "counter", "Time on the GPU", "/kernels/quota/gpu_ms", "way=\"quota\"", 1e-3},
    {"sluice_gpu_seconds_total", "counter", "Time on the GPU", "/kernels/native/gpu_ms", "way=\"native\"", 1e-3},
    {"sluice_launches_total", "counter", "Launches of kernels", "/kernels/quota/launches", "way=\"quota\"", 1},
    {"sluice_launches_total", "counter", "Launches of kernels", "/kernels/native/launches", "way=\"native\"", 1},
    {"sluice_evictions_total", "counter", "Times that a launch was told to leave the GPU", "/evictions", "", 1},
    {"sluice_waited_seconds_total", "counter", "Time in which launches had no SM", "/waited_ms", "", 1e-3},
    {"sluice_memory_bytes", "gauge", "Of the GPU's memory, as its allocations say", "/memory/used", "", 1},
    {"sluice_memory_refused_total", "counter", "Allocations beyond the limit", "/memory/refused", "", 1},
    {"sluice_share_ctas", "gauge", "CTAs that its launches may hold on the GPU, all SMs together", "/share_ctas", "", 1},
};

std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

UniqueFd listen_at(const std::string& place) {
  constexpr std::string_view kHost = "127.0.0.1:";
  const auto refuse = [&](const std::string& why) { return InputError(fmt::format("--metrics {}: {}", place, why)); };
  const bool local = place.starts_with(kHost);
  UniqueFd fd(::socket(local ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("--metrics", errno);
  int bound = -1;
  if (local) {
    std::uint16_t port = 0;
    const std::string_view digits = std::string_view(place).substr(kHost.size());
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), port);
    if (error != std::errc() || end != digits.end() || port == 0) throw refuse("the port must be 1 to 65535");
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address{AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {}};
    bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_un address;
    if (!address_of(place, address) || place.find('/') == std::string::npos)
      throw refuse("must be 127.0.0.1:PORT, or the path of a socket with a / in it");
    if (!is_safe_folder(place.substr(0, place.rfind('/') + 1)))
      throw refuse("the folder must be this user's, and writable by nobody else");
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      throw refuse("another program answers there");
    struct stat there {};
    if (::lstat(place.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) ::unlink(place.c_str());  // of a service that is dead
    const mode_t mask = ::umask(0177);
    bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::umask(mask);
  }
  if (bound != 0 || ::listen(fd.get(), 8) != 0) throw refuse(std::strerror(errno));
  return fd;
}

}  // namespace

std::string metrics_text(std::string_view status) {
  const auto json = nlohmann::json::parse(status);
  std::string out = fmt::format(
      "# HELP sluice_decisions_total Calls of the scheduler\n# TYPE sluice_decisions_total counter\nsluice_decisions_total {}\n"
      "# HELP sluice_lost_clients_total Clients that ended without a word\n# TYPE sluice_lost_clients_total counter\n"
      "sluice_lost_clients_total {}\n",
      json.at("decisions").get<std::uint64_t>(), json.at("lost").get<std::uint64_t>());
  std::string_view last;
  for (const Metric& metric : kMetrics) {
    if (std::exchange(last, metric.name) != metric.name)
      out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, metric.help, metric.type);
    for (const nlohmann::json& client : json.at("clients"))
      out += fmt::format("{}{{pid=\"{}\",program=\"{}\",gpu=\"{}\"{}{}}} {}\n", metric.name, client.at("pid").get<int>(),
                         escaped(client.at("name").get<std::string>()), client.at("gpu").get<std::string>(),
                         *metric.labels != '\0' ? "," : "", metric.labels,
                         client.at(nlohmann::json::json_pointer(metric.of)).get<double>() * metric.scale);
  }
  return out;
}

MetricsEndpoint::MetricsEndpoint(std::string place, std::function<std::string()> status)
    : place_(std::move(place)), status_(std::move(status)), listener_(listen_at(place_)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) throw_errno("--metrics", errno);
  thread_ = std::thread([this] { serve(); });
}

MetricsEndpoint::~MetricsEndpoint() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  if (place_.find('/') != std::string::npos) ::unlink(place_.c_str());
}

void MetricsEndpoint::serve() {
  std::array<pollfd, 2> awaited{{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  for (;;) {
    if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) return;
    if (awaited[1].revents != 0) return;
    if (awaited[0].revents == 0) continue;
    const UniqueFd reader(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (reader) {
      answer(reader);
    } else if (errno == EMFILE || errno == ENFILE) {
      pollfd stop = awaited[1];
      ::poll(&stop, 1, 100);  // it stays readable
    }
  }
}

void MetricsEndpoint::answer(const UniqueFd& reader) const {
  const timeval patience{1, 0};  // for one who asks nothing, or does not read
  for (const int way : {SO_RCVTIMEO, SO_SNDTIMEO}) ::setsockopt(reader.get(), SOL_SOCKET, way, &patience, sizeof patience);
  std::array<char, 4096> request{};
  std::string_view asked;
  for (int parts = 0; parts < 8 && asked.find('\n') == std::string_view::npos; ++parts) {
    const ssize_t n = ::recv(reader.get(), request.data() + asked.size(), request.size() - asked.size(), 0);
    if (n <= 0) return;
    asked = {request.data(), asked.size() + static_cast<std::size_t>(n)};
  }
  std::string code = "200 OK", text;
  if (!asked.starts_with("GET /metrics ")) {
    code = "404 Not Found";
    text = "GET /metrics\n";
  } else {
    try {
      text = metrics_text(status_());
    } catch (const std::exception& error) {
      code = "503 Service Unavailable";
      text = fmt::format("{}\n", error.what());
    }
  }
  const std::string all =
      fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                  code, text.size(), text);
  for (std::size_t sent = 0; sent < all.size();) {
    const ssize_t now = ::send(reader.get(), all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;
    sent += static_cast<std::size_t>(now);
  }
}

}  // namespace sluice::service
