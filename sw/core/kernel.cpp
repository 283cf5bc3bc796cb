// SPDX-License-Identifier: Apache-2.0
#include "sw/core/kernel.h"

namespace sluice {

std::string_view to_string(KernelType type) {
  switch (type) {
    case KernelType::Compute: return "compute";
    case KernelType::Memory: return "memory";
    case KernelType::Cache: return "cache";
  }
  return "unknown";
}

}  // namespace sluice
