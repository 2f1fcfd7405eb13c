/* SPDX-License-Identifier: GPL-2.0-or-later
 * What can be said from numbers. Pure functions on GSL: no store, no output, no clock; the same input gives
 * the same output.
 *
 * Values have any unit, which the results share. The unit that repeats independently is the boot: the samples
 * of one boot resemble each other, so wherever boots are known a boot counts once, by its median. Nothing
 * here assumes a normal distribution but where it is said. Functions that allocate give -ENOMEM. */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_CONFIDENCE         0.95
/* Who looks after each boot, and stops at the first interval that is narrow enough, stops at lucky ones more
 * often. Looking at wider intervals than are reported makes up for it: tests/unit/stats_coverage.c. */
#define STATS_CONFIDENCE_TO_STOP 0.975
#define STATS_SEED               20131 /* of every bootstrap, so that a report can be repeated */

struct stats_sample {
	double value;
	uint32_t boot; /* any label; the same on another node is another boot */
	uint32_t node;
};

struct stats_interval {
	double low, high;
	double confidence; /* what it covers with at least; 0: there is none */
};

/* median.c */

/* Sorts VALUES; the mean of the two in the middle of an even number. NAN of none. */
double stats_median(double *values, size_t count);
/* Quantile Q of sorted VALUES, linear between neighbours (type 7 of Hyndman and Fan, 1996). */
double stats_quantile(const double *sorted, size_t count, double q);

/* The interval of the median between two order statistics of VALUES (sorted by it), whatever their
 * distribution: the narrowest pair, as far from the ends on both sides, that covers it with CONFIDENCE by the
 * binomial distribution (David and Nagaraja, Order Statistics, 2003, 7.1); smallest and largest, at their own
 * confidence 1 - 2^(1-n), where COUNT is too small. */
struct stats_interval stats_median_interval(double *values, size_t count, double confidence);
/* How many values the interval above needs to reach CONFIDENCE: 6 for 0.95, 8 for 0.99. */
size_t stats_median_needs(double confidence);

/* What the interval of a figure speaks of. */
enum stats_basis {
	STATS_NOTHING, /* one sample: no interval */
	STATS_SAMPLES, /* one boot: of that boot alone, nothing of how much another would differ */
	STATS_BOOTS,
};

/* A cell's figure. */
struct stats_figure {
	double median; /* of the boots' medians */
	struct stats_interval interval;
	enum stats_basis basis;
	bool enough; /* BOOTS, and as sure as asked: only this may be called an interval of that confidence */
	size_t samples, boots;
	size_t boots_needed; /* more boots until ENOUGH can be */
	double smallest, largest;
};

/* 0 or -ENOMEM; -EINVAL without samples. */
int stats_figure(const struct stats_sample *samples, size_t count, double confidence,
                 struct stats_figure *figure);
/* The medians of the boots of SAMPLES, in the order of node and boot, to MEDIANS, which has room for COUNT.
 * How many, or -ENOMEM. */
long stats_boot_medians(const struct stats_sample *samples, size_t count, double *medians);

/* bootstrap.c: boots are drawn first, then samples within each (Davison and Hinkley, Bootstrap Methods, 1997,
 * 3.8); percentile intervals of 2000 draws. In simulations (tests/unit/stats_coverage.c) those that say 95 %
 * cover 94 to 96 % of 6 to 20 boots, ratios 96 to 97 %. With fewer than 6 boots the confidence is less than
 * asked, with fewer than 2 it is 0. */
int stats_bootstrap_median(const struct stats_sample *samples, size_t count, double confidence, uint64_t seed,
                           struct stats_interval *interval);
/* Of the median of B over that of A. */
int stats_bootstrap_ratio(const struct stats_sample *a, size_t a_count, const struct stats_sample *b,
                          size_t b_count, double confidence, uint64_t seed, double *ratio,
                          struct stats_interval *interval);

/* split.c: how much of the variance comes from each level (Kalibera and Jones, Rigorous benchmarking in
 * reasonable time, ISMM 2013, with the corrected S_i^2). Level 1 is the sample, 2 the boot, 3 the node (or
 * the cell). S_i^2 is the variance of the means of level i, T_i^2 = S_i^2 - S_(i-1)^2 / r_(i-1) what it adds.
 */
struct stats_split {
	double s2[3], t2[3]; /* S_i^2 and T_i^2 at [i - 1], the values' unit squared; no T_i^2 is negative */
	bool known[3];       /* level i was repeated */
	double boot_p; /* how likely boots that do not differ look as different (F test, assumes normality);
	                  1 with one boot */
	double mean;
};

/* Of R3 x R2 x R1 values, the last index fastest; R1 at least 2 where level 1 shall be known. */
void stats_split(const double *values, size_t r3, size_t r2, size_t r1, struct stats_split *split);
/* Eta squared: the share of the variance of COUNT means that the mean of each LEVEL accounts for; 0 where the
 * means do not differ. */
double stats_eta_squared(const double *means, const unsigned int *level, size_t count);

struct stats_repeats {
	size_t samples;    /* in a boot */
	size_t boots;      /* for the median and its order-statistic interval: what reports print */
	size_t boots_mean; /* for the mean and its t interval, as Kalibera and Jones count */
	double cost;       /* of all, in the unit of the costs */
	bool samples_limited, boots_limited; /* more would be needed than is allowed */
};

/* How often to repeat so that the interval's half is PRECISION (0.01: 1 %) of the mean at CONFIDENCE: r_1 =
 * ceil(sqrt(cost_2 / cost_1 * T_1^2 / T_2^2)), and boots until t * S_2 / sqrt(r_2) is small enough; for the
 * median the same with normal order statistics (Blom 1958). SAMPLE_COST is of one more sample, BOOT_COST of
 * one more boot without samples. */
struct stats_repeats stats_repeats(const struct stats_split *pilot, double sample_cost, double boot_cost,
                                   double precision, double confidence);
/* Boots whose median's interval has half the width PRECISION, where boot medians deviate by DEVIATION (both
 * parts of the median); at most 10000. */
size_t stats_boots_for(double deviation, double precision, double confidence);

/* ratio.c */

/* B over A, from one value a boot (or whatever repeats). */
struct stats_ratio {
	double median;                  /* of all quotients b/a (Hodges and Lehmann, 1963) */
	struct stats_interval interval; /* by order statistics of the quotients, exact for the rank-sum test
	                                   (Lehmann, Nonparametrics, 1975, 2.6) if B is A times a factor */
	bool enough;                    /* it is as sure as asked */
	double p_above, p_below; /* that B is above A * (1 + margin), below A / (1 + margin), by chance */
	double p_differs;        /* two-sided: that it is outside the margin by chance */
	double p_apart;          /* that it looks equal within the margin by chance: two one-sided tests
	                            (Schuirmann 1987) */
};

/* All values above 0, MARGIN 0.02 for 2 %. 0, -ENOMEM, or -EINVAL (no values, or one not above 0). */
int stats_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double margin,
                double confidence, struct stats_ratio *ratio);
/* How many boots each of two sides needs before p_above can be below ALPHA / 2 after a correction for
 * COMPARISONS: 4 for 0.05 and one comparison. */
size_t stats_ratio_needs(double alpha, size_t comparisons);
/* How many a side would decide about a margin with 80 % chance, if A and B go on to deviate as they do
 * (normal approximation on logarithms; the rank-sum test needs pi / 3 times the values of the t test). 0: no
 * number under 10000, B lies on the edge of the margin; or there are fewer than 2 values. */
size_t stats_ratio_more(const double *a, size_t a_count, const double *b, size_t b_count, double margin,
                        double alpha);

enum stats_verdict { STATS_SAME, STATS_BETTER, STATS_WORSE, STATS_UNDECIDED };

/* What a comparison comes to, MORE being better or not; P_DIFFERS and P_APART corrected for many comparisons
 * where there are many. */
enum stats_verdict stats_verdict(const struct stats_ratio *ratio, bool more_is_better, double p_differs,
                                 double p_apart, double alpha);
const char *stats_verdict_text(enum stats_verdict verdict);

/* holm.c: P values corrected for being COUNT together (Holm 1979), in place. */
int stats_holm(double *p, size_t count);

/* trend.c */

struct stats_test {
	double statistic, p; /* p 1 where there is too little to test */
};

/* Autocorrelation at lag 1 of VALUES in the order of time; p two-sided by its normal approximation (Kendall
 * and Stuart). Under 8 values p is 1. */
struct stats_test stats_lag1(const double *values, size_t count);
/* Kendall's tau of VALUES with time: drift (Mann 1945; Kendall 1975; ties and continuity corrected; under 8
 * values exact, and p 1 where any are tied). */
struct stats_test stats_drift(const double *values, size_t count);
/* Whether groups differ (Kruskal and Wallis 1952, ties corrected, chi squared): statistic H. GROUP counts
 * from 0. */
int stats_groups(const double *values, const unsigned int *group, size_t count, struct stats_test *test);
/* Does the position in the run, or what was measured before, explain anything? VALUES are divided by the
 * median of their CELL (from 0), so that what cells differ by does not count; cells met once say nothing. */
struct stats_order {
	struct stats_test drift;  /* of the means of a cell's samples in a boot: one boot counts once */
	struct stats_test lag1;   /* of one sample to the next within a boot, above what shuffling gives;
	                             of the whole run where boots have one sample of a cell each */
	struct stats_test place;  /* of the sample within its boot: 1, 2, ... (Friedman 1937) */
	struct stats_test before; /* groups by the cell that was measured just before another */
	size_t used;              /* values */
};
struct stats_measured {
	double value;
	unsigned int cell, place;
};
/* MEASURED in the order in which it was. */
int stats_order(const struct stats_measured *measured, size_t count, struct stats_order *order);

/* steady.c: SNIA, Solid State Storage Performance Test Specification 2.0.2: over a window of 5 rounds,
 * largest - smallest <= 20 % of the mean, and the least-squares line moves <= 10 % of the mean across the
 * window. */
enum { STATS_STEADY_ROUNDS = 5 };
struct stats_steady {
	bool reached;
	size_t first; /* round, from 0, with which the first such window begins */
	double mean, range_of_mean, slope_of_mean; /* of that window, or of the last where there is none */
};
void stats_steady(const double *rounds, size_t count, struct stats_steady *steady);

/* knee.c: one lasting change of a rate over time: a burst that a cache takes, then what lasts. */
struct stats_knee {
	bool found;
	size_t at;              /* first round after it */
	double before, after;   /* medians; all of it in BEFORE and AFTER where none is found */
	double gain, threshold; /* n log(RSS0 / RSS1), and what it had to be above */
};
/* Least squares of two levels against one (Zhang and Siegmund 2007, modified BIC), with the number of values
 * reduced by the autocorrelation of what is left, and against a straight line, which is drift and no knee.
 * The levels differ by 5 % or more, and last 3 rounds or more. */
int stats_knee(const double *rounds, size_t count, struct stats_knee *knee);

/* outlier.c: which of COUNT siblings differ from the others: |x - median| * 0.6745 / MAD > 3.5 (Iglewicz and
 * Hoaglin 1993), and by 1 % or more; fewer than 5 siblings say nothing. SCORE has COUNT rooms. How many, or
 * -ENOMEM. */
long stats_outliers(const double *values, size_t count, double *score, bool *outlier);

/* decide.c */

enum stats_acceptance { STATS_PASS, STATS_FAIL, STATS_INCONCLUSIVE };
struct stats_decision {
	enum stats_acceptance acceptance;
	size_t more_boots; /* until it would be decided if boots go on to deviate as they do, where
	                      inconclusive; 0: not within 10000 */
};
/* A criterion on a figure: at least, or at most, BOUND. Passes only where the whole interval does, fails
 * where none of it does; without enough boots for an interval it is inconclusive. */
int stats_accept(const struct stats_sample *samples, size_t count, bool at_least, double bound,
                 double confidence, struct stats_decision *decision);
/* Whether a cell is measured as well as asked: enough boots, and its interval's halves within PRECISION of
 * the median. */
bool stats_precise(const struct stats_figure *figure, double precision);

#endif
