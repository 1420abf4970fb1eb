#include "delenda/formats/json/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace delenda::json {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(out, text);
  return out;
}

std::string Number(double value) {
  std::string out;
  AppendDouble(out, value);
  return out;
}

void WriteSample(Writer& w) {
  w.BeginObject();
  w.Member("a", 1).Member("b", "x").Member("c", true).Member("d", uint64_t{18446744073709551615u}).Member("e", 0.5);
  w.Key("empty").BeginArray().EndArray();
  w.Key("none").BeginObject().EndObject();
  w.Key("list").BeginArray().Int(-1).Null().BeginObject().Member("k", std::string("v")).EndObject().EndArray();
  w.Key("raw").Raw("[1,2]");
  w.EndObject();
}

TEST(JsonWriter, Compact) {
  Writer w;
  WriteSample(w);
  EXPECT_EQ(
      std::move(w).Finish(),
      R"({"a":1,"b":"x","c":true,"d":18446744073709551615,"e":0.5,"empty":[],"none":{},"list":[-1,null,{"k":"v"}],"raw":[1,2]})");
}

TEST(JsonWriter, Pretty) {
  Writer w(Writer::Style::kPretty);
  WriteSample(w);
  EXPECT_EQ(std::move(w).Finish(), R"({
  "a": 1,
  "b": "x",
  "c": true,
  "d": 18446744073709551615,
  "e": 0.5,
  "empty": [],
  "none": {},
  "list": [
    -1,
    null,
    {
      "k": "v"
    }
  ],
  "raw": [1,2]
}
)");
}

TEST(JsonWriter, FinishClosesWhatIsOpen) {
  Writer w;
  w.BeginObject().Key("a").BeginArray().Int(1);
  EXPECT_EQ(std::move(w).Finish(), R"({"a":[1]})");
}

TEST(JsonWriter, EscapesStrings) {
  EXPECT_EQ(Quoted("plain /x"), R"("plain /x")");
  EXPECT_EQ(Quoted("\"\\\n\r\t\b\f"), R"("\"\\\n\r\t\b\f")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(Quoted("ä😀"), "\"ä😀\"");
  EXPECT_EQ(Quoted("a\xff"
                   "b\xc3"),
            "\"a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xed\xa0\x80\"ä"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\\\"ä\"");
}

TEST(JsonWriter, NumbersReadBackExactly) {
  EXPECT_EQ(Number(1), "1.0");
  EXPECT_EQ(Number(-0.0), "-0.0");
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(std::nan("")), "\"NaN\"");
  EXPECT_EQ(Number(std::numeric_limits<double>::infinity()), "\"Infinity\"");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const auto document = Document::Parse(Number(value));
    ASSERT_TRUE(document) << Number(value);
    EXPECT_EQ(std::bit_cast<uint64_t>(*document->root().As<double>()), std::bit_cast<uint64_t>(value)) << Number(value);
  }
  for (const int64_t value : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), int64_t{0}}) {
    EXPECT_EQ(Writer().Int(value).text(), std::to_string(value));
  }
}

TEST(JsonWriter, CopiesWhatWasRead) {
  constexpr std::string_view kText =
      R"({"a":[1,-2,18446744073709551615,0.5,1e+30,true,false,null,"s\n",[],{}],"b":{"c":{"d":[[]]}}})";
  const auto document = Document::Parse(kText);
  ASSERT_TRUE(document);
  EXPECT_EQ(Writer().Copy(document->root()).text(), kText);
  Writer w;
  w.BeginObject().Key("part").Copy(*document->root().Member("b")).Member("n", 1).EndObject();
  EXPECT_EQ(std::move(w).Finish(), R"({"part":{"c":{"d":[[]]}},"n":1})");
}

}  // namespace
}  // namespace delenda::json
