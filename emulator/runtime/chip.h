// One emulated chip: its data sheet, its memory, its queues.
#pragma once

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
struct ChipSpec {
  std::string name;          ///< `v6e`
  std::string display_name;  ///< `TPU v6e`
  int64_t hbm_bytes = 0;     ///< per device
  double hbm_bytes_per_second = 0;
  double bf16_flops = 0;     ///< peak per device, FLOP/s
  int mxu_depth = 128;       ///< length of the K chunk one MXU accumulates
  bool has_fp8 = false;
  int devices_per_chip = 1;
};

/// The generations in topologies/, by name. Throws InvalidArgument listing the known names.
const ChipSpec& chip_spec(const std::string& name);
std::vector<std::string> known_chips();

class Chip {
 public:
  explicit Chip(ChipSpec spec);

  const ChipSpec& spec() const { return spec_; }
  memory::HbmAllocator& hbm() { return hbm_; }

  /// The queue that work goes to unless told otherwise; id 0.
  Queue& default_queue();
  /// Queues made so far are never destroyed before the chip.
  Queue& create_queue(std::string name);
  Queue& queue(uint32_t id);
  int num_queues() const;
  /// Waits for all queues; throws the first kept error.
  void synchronize();

  /// Durations of kernels; null (the default) leaves simulated clocks at zero.
  void set_cost_model(std::shared_ptr<const CostModel> model);
  const CostModel* cost_model() const { return cost_model_.get(); }

 private:
  ChipSpec spec_;
  memory::HbmAllocator hbm_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::shared_ptr<const CostModel> cost_model_;
};

}  // namespace tpu::runtime
