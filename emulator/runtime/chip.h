// One emulated chip: its data sheet, its memory, its queues.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "emulator/memory/allocator.h"
#include "emulator/runtime/cost_model.h"
#include "emulator/runtime/queue.h"

namespace tpu::runtime {

/// What a program may know of a chip; read from topologies/*.json, where each number has a source.
/// A device is what PyTorch sees: a chip, or on v7 one of a chip's two TensorCores.
struct ChipSpec {
  std::string name;          ///< `v6e`
  std::string display_name;  ///< `TPU v6e`
  int64_t hbm_bytes = 0;     ///< per device
  double hbm_bytes_per_second = 0;
  double bf16_flops = 0;  ///< peak per device, FLOP/s
  int mxu_depth = 128;    ///< length of the K chunk one MXU accumulates
  bool has_fp8 = false;
  int devices_per_chip = 1;
};

/// The generations in topologies/, by name. Throws InvalidArgument listing the known names.
const ChipSpec& chip_spec(const std::string& name);
std::vector<std::string> known_chips();

class Chip : private memory::QueueProgress {
 public:
  explicit Chip(ChipSpec spec);
  ~Chip() override;

  const ChipSpec& spec() const { return spec_; }
  memory::HbmAllocator& hbm() { return hbm_; }

  /// The queue that work goes to unless told otherwise; id 0.
  Queue& default_queue() { return *default_queue_; }
  /// Queues made so far are never destroyed before the chip.
  Queue& create_queue(std::string name);
  /// Throws InvalidArgument if there is none with this id.
  Queue& queue(uint32_t id) const;
  int num_queues() const;
  /// Waits for all queues; throws the first kept error, in the order of ids.
  void synchronize();

  /// Durations of kernels; null (the default) leaves simulated clocks at zero.
  void set_cost_model(std::shared_ptr<const CostModel> model);
  /// Valid as long as the chip, even if another model is set meanwhile.
  const CostModel* cost_model() const { return cost_model_.load(std::memory_order_acquire); }

 private:
  uint64_t submitted(memory::QueueId queue) const override;
  bool has_passed(memory::QueueId queue, uint64_t count) const override;
  void wait(memory::QueueId queue, uint64_t count) const override;
  std::vector<Queue*> all_queues() const;

  ChipSpec spec_;
  memory::HbmAllocator hbm_;
  Queue* default_queue_;
  std::atomic<const CostModel*> cost_model_{nullptr};
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::shared_ptr<const CostModel>> cost_models_;  // all that were ever set
};

}  // namespace tpu::runtime
