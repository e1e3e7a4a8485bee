// SPDX-License-Identifier: Apache-2.0
/* Clocks, dates and durations. Dates are computed with the proleptic Gregorian calendar instead of
 * timegm(), so that a bad field is refused and not normalised. */
#include "engine/base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NS_PER_MS = 1000000, MS_PER_S = 1000, S_PER_DAY = 86400 };
static const int64_t ns_per_s = 1000000000;

static int64_t fixed_mono_ns = -1;
static int64_t fixed_wall_ns = -1;

static int64_t read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * ns_per_s + now.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return fixed_mono_ns >= 0 ? fixed_mono_ns : read_clock(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
	return clock_mono_ns() / NS_PER_MS;
}

int64_t clock_wall_ns(void)
{
	return fixed_wall_ns >= 0 ? fixed_wall_ns : read_clock(CLOCK_REALTIME);
}

int64_t clock_wall_ms(void)
{
	return clock_wall_ns() / NS_PER_MS;
}

void clock_set_for_tests(int64_t mono_ns, int64_t wall_ns)
{
	fixed_mono_ns = mono_ns;
	fixed_wall_ns = wall_ns;
}

/* Days since 1970-01-01; month 1–12. Eras of 400 years, the year starts in March. */
static int64_t days_of_date(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era =
		year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * 146097 + day_of_era - 719468;
}

static void date_of_days(int64_t days, int64_t *year, int *month, int *day)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t day_of_era = days - era * 146097;
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) /
		365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int month_from_march = (int)((5 * day_of_year + 2) / 153);
	*day = (int)(day_of_year - (153 * month_from_march + 2) / 5) + 1;
	*month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
	*year = year_of_era + era * 400 + (*month <= 2);
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && leap ? 29 : days[month - 1];
}

const char *clock_format_rfc3339(int64_t wall_ns, int digits, char out[CLOCK_RFC3339_BYTES])
{
	int64_t seconds = wall_ns / ns_per_s;
	int64_t fraction = wall_ns % ns_per_s;
	if (fraction < 0) {
		fraction += ns_per_s;
		seconds--;
	}
	int64_t days = seconds / S_PER_DAY;
	int64_t rest = seconds % S_PER_DAY;
	if (rest < 0) {
		rest += S_PER_DAY;
		days--;
	}
	int64_t year;
	int month, day;
	date_of_days(days, &year, &month, &day);
	int n = snprintf(out, CLOCK_RFC3339_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year,
		month, day, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
	char *tail = out + n;
	size_t room = CLOCK_RFC3339_BYTES - (size_t)n;
	if (digits == 9)
		snprintf(tail, room, ".%09dZ", (int)fraction);
	else if (digits == 6)
		snprintf(tail, room, ".%06dZ", (int)(fraction / 1000));
	else if (digits == 3)
		snprintf(tail, room, ".%03dZ", (int)(fraction / NS_PER_MS));
	else
		snprintf(tail, room, "Z");
	return out;
}

/* Reads exactly width digits. */
static bool take_digits(const char **p, int width, int *out)
{
	int value = 0;
	for (int i = 0; i < width; i++) {
		char c = (*p)[i];
		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*p += width;
	*out = value;
	return true;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

struct date {
	int year, month, day, hour, minute, second;
};

static bool date_is_valid(const struct date *d)
{
	return d->month >= 1 && d->month <= 12 && d->day >= 1 &&
	       d->day <= days_in_month(d->year, d->month) && d->hour <= 23 && d->minute <= 59 &&
	       d->second <= 60; /* a leap second counts as the next one */
}

static int64_t date_seconds(const struct date *d)
{
	return days_of_date(d->year, d->month, d->day) * S_PER_DAY + d->hour * 3600 +
	       d->minute * 60 + d->second;
}

static bool take_fraction(const char **p, int64_t *ns)
{
	*ns = 0;
	if (**p != '.')
		return true;
	(*p)++;
	int count = 0;
	for (; isdigit((unsigned char)**p); (*p)++, count++) {
		if (count == 9)
			return false;
		*ns = *ns * 10 + (**p - '0');
	}
	if (count == 0)
		return false;
	for (; count < 9; count++)
		*ns *= 10;
	return true;
}

static bool take_offset(const char **p, int *seconds)
{
	*seconds = 0;
	if (**p == 'Z' || **p == 'z') {
		(*p)++;
		return true;
	}
	int sign = **p == '-' ? -1 : 1;
	if (**p != '+' && **p != '-')
		return false;
	(*p)++;
	int hours, minutes;
	if (!take_digits(p, 2, &hours) || !take_char(p, ':') || !take_digits(p, 2, &minutes) ||
		hours > 23 || minutes > 59)
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool clock_parse_rfc3339(const char *text, int64_t *wall_ns)
{
	if (text == NULL)
		return false;
	struct date d;
	const char *p = text;
	if (!take_digits(&p, 4, &d.year) || !take_char(&p, '-') ||
		!take_digits(&p, 2, &d.month) || !take_char(&p, '-') ||
		!take_digits(&p, 2, &d.day) || (*p != 'T' && *p != 't'))
		return false;
	p++;
	int64_t fraction;
	int offset;
	if (!take_digits(&p, 2, &d.hour) || !take_char(&p, ':') ||
		!take_digits(&p, 2, &d.minute) || !take_char(&p, ':') ||
		!take_digits(&p, 2, &d.second) || !take_fraction(&p, &fraction) ||
		!take_offset(&p, &offset) || *p != '\0' || !date_is_valid(&d))
		return false;
	int64_t ns; /* 64 bits of nanoseconds reach from 1677 to 2262 */
	if (__builtin_mul_overflow(date_seconds(&d) - offset, ns_per_s, &ns) ||
		__builtin_add_overflow(ns, fraction, &ns))
		return false;
	*wall_ns = ns;
	return true;
}

static bool take_month(const char **p, int *month)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	for (int i = 0; i < 12; i++) {
		if (strncmp(*p, names + i * 3, 3) == 0) {
			*p += 3;
			*month = i + 1;
			return true;
		}
	}
	return false;
}

bool clock_parse_http_date(const char *text, int64_t *wall_seconds)
{
	static const char days[] = "MonTueWedThuFriSatSun";
	if (text == NULL)
		return false;
	bool named = false;
	for (int i = 0; i < 7; i++)
		named = named || strncmp(text, days + i * 3, 3) == 0;
	if (!named)
		return false;
	struct date d;
	const char *p = text + 3;
	if (!take_char(&p, ',') || !take_char(&p, ' ') || !take_digits(&p, 2, &d.day) ||
		!take_char(&p, ' ') || !take_month(&p, &d.month) || !take_char(&p, ' ') ||
		!take_digits(&p, 4, &d.year) || !take_char(&p, ' ') ||
		!take_digits(&p, 2, &d.hour) || !take_char(&p, ':') ||
		!take_digits(&p, 2, &d.minute) || !take_char(&p, ':') ||
		!take_digits(&p, 2, &d.second) || strcmp(p, " GMT") != 0 || !date_is_valid(&d))
		return false;
	*wall_seconds = date_seconds(&d);
	return true;
}

/* "<big><unit>" or "<big><unit><small><unit>" without a zero tail. */
static const char *two_parts(
	char out[CLOCK_AGE_BYTES], int64_t big, char big_unit, int64_t small, char small_unit)
{
	char text[64]; /* two numbers of any size; ages that people meet are far shorter */
	if (small == 0)
		snprintf(text, sizeof text, "%lld%c", (long long)big, big_unit);
	else
		snprintf(text, sizeof text, "%lld%c%lld%c", (long long)big, big_unit,
			(long long)small, small_unit);
	memccpy(out, text, '\0', CLOCK_AGE_BYTES - 1);
	out[CLOCK_AGE_BYTES - 1] = '\0';
	return out;
}

/* The steps are those of k8s.io/apimachinery duration.HumanDuration. */
const char *clock_format_age(int64_t age_ms, char out[CLOCK_AGE_BYTES])
{
	int64_t seconds = age_ms / MS_PER_S;
	int64_t minutes = seconds / 60;
	int64_t hours = minutes / 60;
	int64_t days = hours / 24;
	if (seconds < 0) /* two clocks that differ a little */
		return two_parts(out, 0, 's', 0, 's');
	if (seconds < 120)
		return two_parts(out, seconds, 's', 0, 's');
	if (minutes < 10)
		return two_parts(out, minutes, 'm', seconds % 60, 's');
	if (minutes < 180)
		return two_parts(out, minutes, 'm', 0, 's');
	if (hours < 8)
		return two_parts(out, hours, 'h', minutes % 60, 'm');
	if (hours < 48)
		return two_parts(out, hours, 'h', 0, 'm');
	if (days < 8)
		return two_parts(out, days, 'd', hours % 24, 'h');
	if (days < 730)
		return two_parts(out, days, 'd', 0, 'h');
	if (days < 8 * 365)
		return two_parts(out, days / 365, 'y', days % 365, 'd');
	return two_parts(out, days / 365, 'y', 0, 'd');
}

static bool take_unit(const char **p, int64_t *unit_ms)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 } };
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i].name);
		if (strncmp(*p, units[i].name, n) == 0 && !isalpha((unsigned char)(*p)[n])) {
			*p += n;
			*unit_ms = units[i].ms;
			return true;
		}
	}
	return false;
}

bool clock_parse_duration(const char *text, int64_t *ms)
{
	const char *p = text;
	int64_t total = 0;
	if (text == NULL || *p == '\0')
		return false;
	while (*p != '\0') {
		int64_t whole = 0, thousandths = 0, unit_ms = MS_PER_S, part;
		const char *start = p;
		for (; isdigit((unsigned char)*p); p++)
			if (__builtin_mul_overflow(whole, 10, &whole) ||
				__builtin_add_overflow(whole, *p - '0', &whole))
				return false;
		if (p == start)
			return false;
		if (*p == '.') {
			int64_t scale = 100;
			for (p++; isdigit((unsigned char)*p); p++, scale /= 10)
				thousandths += (*p - '0') * scale;
			if (p[-1] == '.')
				return false;
		}
		/* a bare number is seconds, and stands alone */
		if (!take_unit(&p, &unit_ms) && !(start == text && *p == '\0'))
			return false;
		if (__builtin_mul_overflow(whole, unit_ms, &part) ||
			__builtin_add_overflow(part, thousandths * unit_ms / 1000, &part) ||
			__builtin_add_overflow(total, part, &total))
			return false;
	}
	*ms = total;
	return true;
}
