// Standard headers and the test framework.
#pragma once

#include "pch_std.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
