#include "core/outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace conformance {
namespace {

TEST(CaseName, HasSixParts) {
  EXPECT_TRUE(is_case_name("op.add.out.float32.value.3"));
  EXPECT_TRUE(is_case_name("op.linalg-norm-subgradients_at_zero.functional.float32.grad.10"));
  for (const char* name :
       {"", "op.add.out.float32.value", "op.add.out.float32.value.x",
        "op.add.out.float32.value.3.4", "op..out.float32.value.3", "op.a b.out.float32.value.3"}) {
    EXPECT_FALSE(is_case_name(name)) << name;
  }
}

TEST(Lines, ReadBackAsWritten) {
  Outcome o{.name = "op.add.out.float32.value.3", .mode = "strict", .status = Status::kFail};
  o.margin = std::numeric_limits<double>::infinity();
  o.seconds = 0.25;
  o.digest = "00ff";
  o.cause = "value";
  o.message = "got \"1\"\nexpected \xff";
  o.reproducer = "torch-conformance run";
  const Outcome back = from_json_line(to_json_line(o));
  EXPECT_EQ(back.name, o.name);
  EXPECT_EQ(back.status, Status::kFail);
  EXPECT_TRUE(std::isinf(back.margin));
  EXPECT_EQ(back.seconds, 0.25);
  EXPECT_EQ(back.digest, "00ff");
  EXPECT_EQ(back.message, "got \"1\"\nexpected \xEF\xBF\xBD");  // no UTF-8, replaced
}

TEST(Lines, AreOneLineEach) {
  const Outcome o{.name = "a.b.c.d.e.0", .mode = "m", .status = Status::kPass, .message = "x\ny"};
  EXPECT_EQ(to_json_line(o).find('\n'), std::string::npos);
}

std::string problem_of(std::string_view line) {
  try {
    from_json_line(line);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Lines, BrokenOnesAreNamed) {
  EXPECT_NE(problem_of("{").find("is no JSON"), std::string::npos);
  EXPECT_EQ(problem_of("[]"), "is no JSON object");
  EXPECT_EQ(problem_of("{}"), "has no \"case\"");
  EXPECT_EQ(problem_of(R"({"case":"a.b.c.d.e.0","mode":"m","status":"great"})"),
            "has an unknown status");
  EXPECT_EQ(problem_of(R"({"case":"a.b.c.d.e.0","mode":"m","status":"pass","margin":"x"})"),
            "has a \"margin\" of the wrong type");
}

TEST(Statuses, HaveNames) {
  EXPECT_EQ(name_of(Status::kPassByFallback), "pass-by-fallback");
  EXPECT_EQ(find_status("mistrusted"), Status::kMistrusted);
  EXPECT_FALSE(find_status("ok"));
}

TEST(Lines, RefuseANameThatIsNone) {
  EXPECT_THROW(to_json_line({.name = "add"}), std::invalid_argument);
}

}  // namespace
}  // namespace conformance
