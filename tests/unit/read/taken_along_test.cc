// Rows that wait for a later task: within the budget, and never twice.
#include "delenda/read/taken_along.h"

#include <gtest/gtest.h>

namespace delenda::read {
namespace {

TEST(TakenAlong, GivesWhatWasPutOnceAndGivesTheRoomBack) {
  TakenAlong taken(100);
  ASSERT_TRUE(taken.Reserve(60));
  EXPECT_FALSE(taken.Reserve(41));
  taken.Put(7, 1, TakenAlong::Rows(3), 60);
  EXPECT_FALSE(taken.Reserve(41));
  const auto rows = taken.Claim(7, 1);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->size(), 3U);
  EXPECT_TRUE(taken.Reserve(100));
  EXPECT_FALSE(taken.Claim(7, 1));
}

TEST(TakenAlong, DropsWhatComesAfterTheTaskHasBegunByItself) {
  TakenAlong taken(100);
  EXPECT_FALSE(taken.Claim(7, 1));
  ASSERT_TRUE(taken.Reserve(100));
  taken.Put(7, 1, TakenAlong::Rows(3), 100);
  EXPECT_FALSE(taken.Claim(7, 1));
  EXPECT_TRUE(taken.Reserve(100));
}

}  // namespace
}  // namespace delenda::read
