// What the console uses of Lit: one file, src/muster/console/third_party/lit.js.
export {LitElement, css, html, nothing, svg} from 'lit';
export {classMap} from 'lit/directives/class-map.js';
export {live} from 'lit/directives/live.js';
export {ref, createRef} from 'lit/directives/ref.js';
export {repeat} from 'lit/directives/repeat.js';
