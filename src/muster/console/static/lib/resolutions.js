// Resolutions as people write them: wants as `package@range:channel`, and a resolution with a fix made.

export const wantText = ({package: name, range = '', channel = '', catalog = ''}) =>
  `${name}${range ? `@${range}` : ''}${channel ? `:${channel}` : ''}${catalog ? ` from ${catalog}` : ''}`;

/** `package@range:channel` as a want; undefined for what is none. */
export function parseWant(text) {
  const found = /^\s*([^\s@:]+)(?:@([^:]+))?(?::(\S+))?\s*$/.exec(text);
  if (!found) return undefined;
  const [, name, range, channel] = found;
  return {package: name, ...(range ? {range: range.trim()} : {}), ...(channel ? {channel} : {})};
}

const changed = (spec, name, change) => ({...spec, wants: spec.wants.map((each) => (each.package === name ? change(each) : each))});

const FIXES = {
  AllowVersion: (spec, {subject, parameters}) => changed(spec, subject.package, (each) => ({...each, range: `${each.range} || ${parameters.version}`})),
  UseChannel: (spec, {subject}) => changed(spec, subject.package, (each) => ({...each, channel: subject.channel})),
  BeginElsewhere: (spec, {subject}) => changed(spec, subject.package, ({startingCSV, ...each}) => each),
  DropWants: (spec, {parameters}) => ({...spec, wants: spec.wants.filter((each) => !parameters.wants.includes(wantText(each)))}),
  Uninstall: (spec, {subject}) => ({...spec, installed: (spec.installed ?? []).filter((each) => each.name !== subject.bundle)}),
};

/** The spec with a fix made; undefined for one that is not made by editing the spec. */
export const fixed = (spec, reason) => FIXES[reason.code]?.(spec, {parameters: {}, subject: {}, ...reason});

/** How a resolution is, from its conditions. */
export function outcomeOf({status = {}}) {
  const found = (status.conditions ?? []).find((each) => each.type === 'Resolved');
  if (!found) return {sign: 'wait', word: 'not resolved yet', order: 1};
  if (found.status === 'True') return {sign: 'yes', word: 'resolved', order: 2};
  return {sign: found.reason === 'Unsatisfiable' ? 'error' : 'wait', word: found.reason === 'Unsatisfiable' ? 'impossible' : found.reason, order: 0};
}
