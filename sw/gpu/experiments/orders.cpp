// SPDX-License-Identifier: Apache-2.0
// How long an order or a look at a job takes beside a program's own copies, by how it is sent and by the pieces they are made in.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr unsigned kSamples = 100;
constexpr std::size_t kCopied = std::size_t{384} << 20;  // bytes that the program copies at a time
constexpr std::size_t kOrder = sizeof(SluiceOrders), kWords = 132;

/// A program that copies all the time, in pieces that are all queued at once.
class Traffic {
 public:
  Traffic(GpuSession& session, std::size_t piece, bool inwards)
      : device_(allocate(kCopied, "the program's memory")), host_(allocate_pinned(kCopied, "the program's memory")) {
    thread_ = std::thread([this, &session, piece, inwards] {
      session.context().make_current();
      const StreamHandle stream = make_stream();
      while (!stop_) {
        for (std::size_t at = 0; at < kCopied; at += piece) {
          char* host = static_cast<char*>(host_.get()) + at;
          const std::size_t bytes = std::min(piece, kCopied - at);
          check(inwards ? driver().cuMemcpyHtoDAsync(device_.get() + at, host, bytes, stream.get())
                        : driver().cuMemcpyDtoHAsync(host, device_.get() + at, bytes, stream.get()),
                "copying");
        }
        check(driver().cuStreamSynchronize(stream.get()), "copying");
        ++rounds_;
      }
    });
  }
  ~Traffic() {
    stop_ = true;
    thread_.join();
  }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  [[nodiscard]] unsigned rounds() const { return rounds_; }

 private:
  DeviceMemory device_;
  PinnedMemory host_;
  std::atomic<bool> stop_ = false;
  std::atomic<unsigned> rounds_ = 0;
  std::thread thread_;
};

}  // namespace

void orders_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "orders.jsonl");
  constexpr std::array<std::size_t, 6> kPieces = {
      0, kCopied, std::size_t{16} << 20, std::size_t{4} << 20, std::size_t{1} << 20, std::size_t{1} << 18};
  const DeviceMemory orders = allocate(kOrder, "orders");
  const PinnedMemory host = allocate_pinned(kOrder, "orders");
  std::memset(host.get(), 0, kOrder);
  const StreamHandle stream = make_stream(true);
  const auto write_words = [&](std::size_t words) {
    std::vector<CUstreamBatchMemOpParams> ops(words);
    for (std::size_t i = 0; i < words; ++i) {
      ops[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      ops[i].writeValue.address = orders.get() + 4 * i;
      ops[i].writeValue.value = 0;
      ops[i].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    }
    check(driver().cuStreamBatchMemOp(stream.get(), static_cast<unsigned>(words), ops.data(), 0), "writing words");
  };
  const auto send = [&](const std::string& way) {
    if (way == "copy in") check(driver().cuMemcpyHtoDAsync(orders.get(), host.get(), kOrder, stream.get()), "sending an order");
    if (way == "copy out") check(driver().cuMemcpyDtoHAsync(host.get(), orders.get(), kOrder, stream.get()), "looking");
    if (way == "write one word") write_words(1);
    if (way == "write all words") write_words(kWords);
  };
  Progress progress("orders", 2 * kPieces.size());
  for (const bool inwards : {true, false})
    for (const std::size_t piece : kPieces) {
      const std::string traffic =
          piece == 0 ? "none" : fmt::format("{} in pieces of {} KiB", inwards ? "in" : "out", piece >> 10);
      if (!store.has(traffic + "/copy in")) {
        const std::unique_ptr<Traffic> program = piece == 0 ? nullptr : std::make_unique<Traffic>(session, piece, inwards);
        const Clock::time_point start = Clock::now();
        sleep_seconds(5e-3);
        nlohmann::json lines = nlohmann::json::object();
        for (const char* way : {"copy in", "copy out", "write one word", "write all words"})
          for (unsigned i = 0; i < kSamples; ++i) {
            sleep_seconds(2e-4);
            const Clock::time_point before = Clock::now();
            send(way);
            while (driver().cuStreamQuery(stream.get()) == CUDA_ERROR_NOT_READY) {
            }
            lines[way].push_back(seconds(Clock::now() - before) * 1e6);
          }
        const double rate = program ? static_cast<double>(program->rounds()) * kCopied / seconds(Clock::now() - start) * 1e-9 : 0;
        for (const auto& [way, us] : lines.items())
          store.add(fmt::format("{}/{}", traffic, way),
                    {{"traffic", traffic}, {"way", way}, {"us", us}, {"gb_per_second", rate}, {"on", options.on}});
      }
      progress.done(traffic);
    }
}

}  // namespace sluice::gpu
