// How a JSON document lies in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/formats/json/json.h"

namespace delenda::json::detail {

// One value. 32 bytes: table metadata with many snapshots has millions of them.
struct Node {
  union Payload {
    int64_t integer;   // kInteger, unless `beyond_signed`
    uint64_t natural;  // kInteger with `beyond_signed`
    bool boolean;      // kBool
    struct {
      uint32_t offset;
      uint32_t length;
    } text;             // kString, and the digits of kFloat: within Tape::text
    uint32_t children;  // kArray, kObject: how many, shadowed ones not counted
  };

  uint32_t parent = 0;  // the root is its own
  uint32_t end = 0;     // index after all that is inside of this value: its next sibling, if it has one
  uint32_t key_offset = 0;
  uint32_t key_length = 0;
  Payload payload = {};
  Kind kind = Kind::kNull;
  bool beyond_signed = false;  // an integer above the range of int64_t
  bool shadowed = false;       // a later member of the object has the same name
};

// All values in the order of the text (an array or object, then what is inside), and all keys and strings in one
// buffer: nothing to free one by one, so that deep or wide documents cost nothing to destroy.
struct Tape {
  std::vector<Node> nodes;
  std::string text;

  std::string_view Key(const Node& node) const {
    return std::string_view(text).substr(node.key_offset, node.key_length);
  }
  std::string_view Text(const Node& node) const {
    return std::string_view(text).substr(node.payload.text.offset, node.payload.text.length);
  }
  // The first index from `index` on, before `end`, that is not shadowed; else `end`.
  uint32_t Visible(uint32_t index, uint32_t end) const {
    while (index < end && nodes[index].shadowed) index = nodes[index].end;
    return index;
  }
};

}  // namespace delenda::json::detail
