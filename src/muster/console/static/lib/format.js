// Numbers, times and counts as people read them.
const THIN = '\u202f';
const STEPS = [[60, 's'], [60, 'min'], [24, 'h'], [365, 'd'], [Infinity, 'y']];

export const number = (value) => String(value ?? 0).replace(/^-/, '\u2212').replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** `4 min`, for how long something lasts. */
export function duration(seconds) {
  let left = Math.max(0, seconds);
  for (const [size, unit] of STEPS) {
    if (left < size) return `${Math.floor(left)} ${unit}`;
    left /= size;
  }
  return '';
}

export const ago = (time, now = Date.now()) => {
  const seconds = (now - Date.parse(time)) / 1000;
  return seconds < 5 ? 'just now' : `${duration(seconds)} ago`;
};
export const exact = (time) => new Date(time).toISOString().replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
export const local = (time) => new Date(time).toLocaleString();
export const share = (part, whole) => (whole ? Math.max(part / whole * 100, part ? 0.5 : 0) : 0);
export const value = (thing) => (typeof thing === 'string' ? thing : JSON.stringify(thing));

/** Positions: the server counts code points, the browser counts UTF-16 units. */
export const units = (text, points) => [...text].slice(0, points).join('').length;
export const points = (text, position) => [...text.slice(0, position)].length;
