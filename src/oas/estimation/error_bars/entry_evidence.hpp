#pragma once

#include <limits>
#include <vector>

namespace oas {

/// Limits of a probability, inside [0,1].
struct Limits {
  double lower = 0.0;
  double upper = 1.0;
};

/// What data say about one probability t: the fall D(t) >= 0 of a log-likelihood from its maximum
/// at `value` (a profile, when there are other parameters). It is a shape with few numbers, which
/// is exact for counts, times a correction by falls that were measured.
///
/// *Inside (0,1)*: counts seen through noise,
///
///     D(t) = -n (v+κ) log((t+κ)/(v+κ)) - n (1-v+κ) log((1-t+κ)/(1-v+κ)).
///
/// κ = 0 is the binomial likelihood of v n hits among n; with a large κ it is a parabola. κ is such
/// that the curvature at v is that of the given variance, which noise makes larger than v(1-v)/n.
///
/// *At a bound*: D = slope · d + curvature · d²/2, with d the distance from the bound.
class EntryEvidence {
 public:
  /// `visits` is n, the number of times that the row was left, at least 0 (∞: D is a parabola);
  /// `variance` that of the estimate `value`. A variance below v(1-v)/n raises n instead when
  /// `more` is set (other rows may tell of this one), else it is not believed.
  [[nodiscard]] static EntryEvidence from_counts(double value, double variance, double visits,
                                                 bool more = false);
  /// The maximum lies at 0, or at 1 if `value` is above 1/2.
  [[nodiscard]] static EntryEvidence at_bound(double value, double slope, double curvature);

  /// Known beforehand: every interval is the value alone.
  [[nodiscard]] static EntryEvidence certain(double value);

  /// The fall at `t` was measured to be `fall`: between the maximum and the outermost measured
  /// point on each side the shape is multiplied by measured/shape, interpolated along √shape.
  void measured(double t, double fall);
  /// D is multiplied by `factor`.
  void scale(double factor) { scale_ *= factor; }
  /// D is multiplied by (n-1)/n: one visit says nothing.
  void scale_to_visits(double visits);
  /// The scale of D was estimated with so many degrees of freedom: D becomes that of Student's t.
  void set_degrees(double degrees) { degrees_ = degrees; }
  /// The value is a ratio, and noise of standard deviation `error` is in its divisor, relative to
  /// it: z standard errors become z/√(1 - z² error²), the whole of [0,1] from z = 1/error on
  /// (Fieller 1954).
  void set_divisor_error(double error) { divisor_variance_ = error * error; }
  /// Other probabilities that sum to 1 with this one: at 1 all of them are at 0.
  void set_rivals(int rivals) { rivals_ = rivals; }

  /// Another opinion, normal: intervals also hold `value` ± z · `error`, where that is in [0,1].
  /// One that comes from another maximum, by `fall` lower than this one, is worth as much less: ±
  /// √(z² - 2 fall) · error, as far as there is a root; the fall is scaled as D is.
  void add_opinion(double value, double error, double fall = 0.0);

  [[nodiscard]] bool is_certain() const { return certain_; }
  [[nodiscard]] bool has_opinions() const { return !opinions_.empty(); }
  [[nodiscard]] double value() const { return value_; }
  /// Whether `value` is 0 or 1.
  [[nodiscard]] bool is_at_bound() const { return bounded_ || value_ == 0.0 || value_ == 1.0; }
  /// Of Student's t; ∞: normal.
  [[nodiscard]] double degrees() const { return degrees_; }
  /// 1/D''(value), scaled; of no meaning at a bound.
  [[nodiscard]] double variance() const;
  /// D(t) without scale and degrees; +∞ where t is excluded.
  [[nodiscard]] double fall(double t) const;
  /// The point on one side of the maximum where fall() reaches `target`; the end of [0,1] if it
  /// does not.
  [[nodiscard]] double reach(double target, bool upwards) const;

  /// All t with D(t) <= z²/2, the likelihood ratio's interval, together with the shortest interval
  /// that holds `level` of the mass of exp(-D) on [0,1], the highest posterior density under a
  /// uniform prior on this probability alone. The first is too short where counts are small (after
  /// no hit among n it ends at 1.92/n, which 3/n must reach), the second where the data say little
  /// and the truth lies at a bound. Both contain `value`, so 0 or 1 where the maximum lies there.
  ///
  /// With two rivals or more the truth 1 is a corner: twice D(1) is then beyond χ² with one degree
  /// of freedom, and 1 belongs to the interval as long as χ² with two allows it. Other
  /// opinions are added last.
  [[nodiscard]] Limits interval(double level) const;
  /// Whether D hardly falls on all of [0,1].
  [[nodiscard]] bool is_flat() const;

 private:
  struct Knot {
    double root;   // √shape
    double ratio;  // measured / shape
  };
  struct Opinion {
    double value;
    double error;
    double fall;
  };
  [[nodiscard]] double shape(double t) const;
  [[nodiscard]] Limits densest(double level) const;
  [[nodiscard]] double scaled_fall(double t) const;
  [[nodiscard]] double weighted_fall(double t) const;
  [[nodiscard]] double reach_weighted(double target, bool upwards) const;

  double value_ = 0.0;
  bool certain_ = false;
  bool bounded_ = false;
  double visits_ = 0.0;
  double shift_ = 0.0;
  double slope_ = 0.0;
  double curvature_ = 0.0;
  double scale_ = 1.0;
  double divisor_variance_ = 0.0;
  double degrees_ = std::numeric_limits<double>::infinity();
  int rivals_ = 1;
  std::vector<Opinion> opinions_;
  std::vector<Knot> below_;  // ascending roots
  std::vector<Knot> above_;
};

}  // namespace oas
