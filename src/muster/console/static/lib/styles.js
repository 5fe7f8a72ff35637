// What every component looks like before it says otherwise.
import {css} from '../../third_party/lit.js';

export const base = css`
  :host { display: block; color: var(--ink); font: var(--text); }
  :host([hidden]), [hidden] { display: none !important; }
  *, *::before, *::after { box-sizing: border-box; }
  h1 { font: var(--title); margin: 0; overflow-wrap: anywhere; }
  h1 .mono, h1.mono { font: 600 18px/28px var(--mono); }
  h2 { font: 600 14px/20px var(--sans); margin: 0; }
  h3, h2.minor { font: 600 12px/16px var(--sans); margin: 0; color: var(--faint); }
  p { margin: 0; }
  a { color: var(--accent); text-decoration: none; }
  a:hover { text-decoration: underline; text-underline-offset: 2px; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
  code, pre, .mono { font: var(--code); overflow-wrap: anywhere; }
  pre { margin: 0; white-space: pre-wrap; }
  ul, ol { margin: 0; padding: 0; list-style: none; }
  table { border-collapse: collapse; width: 100%; }
  th { font: var(--small); color: var(--faint); text-align: start; padding: var(--s1) var(--s3) var(--s1) 0; }
  td { padding: var(--s1) var(--s3) var(--s1) 0; vertical-align: baseline; border-top: 1px solid var(--line); }
  .faint { color: var(--faint); }
  .small { font: var(--small); } .small.mono, code.small { font: 12px/16px var(--mono); }
  .num { text-align: end; font-variant-numeric: tabular-nums; }
  .yes { color: var(--yes); } .wait { color: var(--wait); } .error { color: var(--error); } .no { color: var(--faint); }
  button, select, input, textarea { font: inherit; color: inherit; }
  button { cursor: pointer; border: 1px solid var(--line); background: var(--raised); border-radius: var(--corner);
    padding: 5px var(--s3); transition: background var(--fade), border-color var(--fade); }
  button:hover:not(:disabled) { background: var(--hover); }
  button:disabled { color: var(--faint); cursor: default; }
  button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
  button.primary:hover:not(:disabled) { background: var(--accent); filter: brightness(1.08); }
  button.primary:disabled { background: var(--line); border-color: var(--line); color: var(--faint); }
  a.button { display: inline-block; border: 1px solid var(--line); background: var(--raised); border-radius: var(--corner); padding: 5px var(--s3); color: var(--ink); }
  a.button:hover { background: var(--hover); text-decoration: none; }
  button.plain { border: 0; background: none; padding: 0; color: var(--accent); }
  button.plain:hover { text-decoration: underline; background: none; }
  input, select, textarea { border: 1px solid var(--line); background: var(--raised); border-radius: var(--corner);
    padding: 5px var(--s2); min-height: 32px; }
  ::placeholder { color: var(--faint); opacity: 1; }
  .card { background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); padding: var(--s4); }
  .row { display: flex; gap: var(--s2); align-items: baseline; flex-wrap: wrap; }
  .spread { display: flex; gap: var(--s4); align-items: center; justify-content: space-between; flex-wrap: wrap; }
  .stack { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); align-content: start; min-width: 0; }
  .scroll { overflow-x: auto; position: relative; }
  .chip { display: inline-block; font: 12px/18px var(--mono); border: 1px solid var(--line); border-radius: 4px;
    padding: 0 5px; overflow-wrap: anywhere; }
  .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .bar { display: block; height: 8px; border-radius: 2px; background: var(--bar-no); min-width: 0; }
  .bar.yes { background: var(--bar-yes); } .bar.error { background: var(--bar-error); } .bar.accent { background: var(--accent); }
  .stale { opacity: .55; transition: opacity var(--fade); }
`;
