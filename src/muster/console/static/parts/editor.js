// An editor for CEL, jq and YAML. CodeMirror is loaded here and nowhere else. It colours; what is wrong and what may follow
// is the server's to say: `diagnostics` are shown where they are, `completer` is asked at the caret.
import {LitElement, css, html} from '../../third_party/lit.js';
import {points, units} from '../lib/format.js';
import {base} from '../lib/styles.js';

const WORDS = /^(true|false|null|in|has|all|exists|exists_one|map|filter)$/;
const cel = {
  name: 'cel',
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/\/\/.*/)) return 'comment';
    if (stream.match(/^[rRbB]{0,2}("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return 'string';
    if (stream.match(/^\d[\w.]*/)) return 'number';
    if (stream.match(/^[A-Za-z_]\w*/)) {
      if (WORDS.test(stream.current())) return 'keyword';
      return stream.peek() === '(' ? 'variableName.function' : 'variableName';
    }
    stream.next();
    return 'operator';
  },
};
const JQ = /^(and|or|not|if|then|elif|else|end|as|reduce|foreach|def|try|catch|true|false|null|length|select|any|all|map|keys|test|has|in|contains)$/;
const jq = {
  name: 'jq',
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/#.*/)) return 'comment';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^\d[\w.]*/)) return 'number';
    if (stream.match(/^\.[A-Za-z_]\w*/)) return 'propertyName';
    if (stream.match(/^\$?[A-Za-z_]\w*/)) return JQ.test(stream.current()) ? 'keyword' : 'variableName';
    stream.next();
    return 'operator';
  },
};
const KINDS = {label: 'property', claim: 'property', value: 'constant', field: 'property', function: 'function', macro: 'keyword', variable: 'variable'};

class Editor extends LitElement {
  static properties = {value: {}, language: {}, label: {}, diagnostics: {attribute: false}, completer: {attribute: false}, placeholder: {}};
  static styles = [base, css`
    :host { min-height: 140px; border: 1px solid var(--line); border-radius: var(--corner); background: var(--raised); overflow: hidden; }
    :host(:focus-within) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
    .place { height: 100%; min-height: inherit; display: grid; }
    .cm-editor { min-height: inherit; height: 100%; background: none; }
    .cm-editor.cm-focused { outline: none; }
    .cm-scroller { font: var(--code) !important; }
    .cm-content { caret-color: var(--ink); padding: var(--s3) 0 !important; color: var(--ink); }
    .cm-line { padding: 0 var(--s4) !important; }
    .cm-cursor { border-left-color: var(--ink) !important; }
    .cm-selectionBackground { background: color-mix(in srgb, var(--accent) 22%, transparent) !important; }
    .cm-placeholder { color: var(--faint) !important; }
    .cm-tooltip { background: var(--raised) !important; color: var(--ink); border: 1px solid var(--line) !important; border-radius: var(--corner); box-shadow: var(--shadow); }
    .cm-tooltip-autocomplete ul { font: var(--code) !important; max-height: 16em !important; }
    .cm-tooltip-autocomplete li { padding: 2px var(--s3) !important; display: flex; gap: var(--s4); }
    .cm-tooltip-autocomplete li[aria-selected] { background: var(--accent-wash) !important; color: var(--ink) !important; }
    .cm-completionLabel { flex: 1; } .cm-completionDetail { color: var(--faint); font-style: normal; font: var(--small); margin: 0; }
    .cm-completionMatchedText { text-decoration: none; font-weight: 600; }
    .cm-completionIcon { display: none; }
    .cm-diagnostic { border-left: 3px solid var(--error) !important; padding: var(--s1) var(--s3); }
    .cm-lintRange-error { background: none !important; text-decoration: underline wavy var(--error) 1px; text-underline-offset: 3px; }
    .cm-lintRange-warning { background: none !important; text-decoration: underline wavy var(--wait) 1px; text-underline-offset: 3px; }
    .cm-matchingBracket { background: var(--hover) !important; outline: 1px solid var(--line); }
    .tok-string { color: var(--yes); } .tok-number { color: var(--wait); } .tok-keyword { color: var(--accent); } .tok-comment { color: var(--faint); }
    .tok-function { color: var(--accent); } .tok-property { color: var(--accent); } .tok-operator { color: var(--faint); }
  `];

  #view; #kit; #language;

  constructor() {
    super();
    Object.assign(this, {value: '', language: 'cel', label: 'Expression', diagnostics: []});
  }

  async firstUpdated() {
    this.#kit = await import('../../third_party/codemirror.js');
    if (!this.isConnected) return;
    this.#make();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#view?.destroy();
    this.#view = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.#kit && !this.#view) this.updateComplete.then(() => this.#make());
  }

  #make() {
    const kit = this.#kit;
    this.#language = new kit.Compartment();
    const t = kit.tags;
    const colours = kit.HighlightStyle.define([
      {tag: t.string, class: 'tok-string'}, {tag: [t.number, t.bool, t.null], class: 'tok-number'}, {tag: t.keyword, class: 'tok-keyword'},
      {tag: t.comment, class: 'tok-comment'}, {tag: t.function(t.variableName), class: 'tok-function'}, {tag: t.operator, class: 'tok-operator'},
      {tag: [t.propertyName, t.definition(t.propertyName)], class: 'tok-property'},
    ]);
    this.#view = new kit.EditorView({
      parent: this.shadowRoot.querySelector('.place'),
      root: this.shadowRoot,
      doc: this.value,
      extensions: [
        kit.history(), kit.bracketMatching(), kit.closeBrackets(), kit.EditorView.lineWrapping, kit.placeholder(this.placeholder ?? ''),
        kit.syntaxHighlighting(colours), this.#language.of(this.#spoken()),
        kit.autocompletion({override: [(context) => this.#complete(context)], icons: false, activateOnTyping: true}),
        // Tab moves on, as everywhere: an editor that keeps the focus is a trap.
        kit.keymap.of([...kit.closeBracketsKeymap, ...kit.completionKeymap, ...kit.lintKeymap, ...kit.historyKeymap, ...kit.defaultKeymap]),
        // Typing over several lines is done here: the browser would do it with an inline style, which the policy refuses.
        kit.EditorView.domEventHandlers({beforeinput: (event, view) => this.#replaced(event, view)}),
        kit.EditorView.contentAttributes.of({'aria-label': this.label}),
        kit.EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.value = update.state.doc.toString();
          this.dispatchEvent(new CustomEvent('edited', {detail: this.value}));
        }),
      ],
    });
    this.#mark();
    this.dispatchEvent(new Event('ready'));
  }

  #replaced(event, view) {
    const {state} = view;
    const {from, to} = state.selection.main;
    if (event.inputType !== 'insertText' || !event.data || state.doc.lineAt(from).number === state.doc.lineAt(to).number) return false;
    event.preventDefault();
    view.dispatch(state.update(state.replaceSelection(event.data), {userEvent: 'input.type', scrollIntoView: true}));
    return true;
  }

  #spoken() { return this.language === 'yaml' ? this.#kit.yaml() : this.#kit.StreamLanguage.define(this.language === 'jq' ? jq : cel); }

  updated(changed) {
    if (!this.#view) return;
    if (changed.has('language')) this.#view.dispatch({effects: this.#language.reconfigure(this.#spoken())});
    if (changed.has('value') && this.value !== this.#view.state.doc.toString()) {
      this.#view.dispatch({changes: {from: 0, to: this.#view.state.doc.length, insert: this.value}});
    }
    if (changed.has('diagnostics')) this.#mark();
  }

  #mark() {
    const text = this.#view.state.doc.toString();
    const found = (this.diagnostics ?? []).map((each) => {
      const line = each.line ? this.#view.state.doc.line(Math.min(each.line, this.#view.state.doc.lines)) : undefined;
      const from = Math.min(each.from === undefined ? (line?.from ?? 0) : units(text, each.from), text.length);
      const to = Math.min(each.to === undefined ? (line?.to ?? text.length) : units(text, each.to), text.length);
      return {from: Math.min(from, to), to: Math.max(to, from), severity: each.severity === 'warning' ? 'warning' : 'error', message: each.message};
    });
    this.#view.dispatch(this.#kit.setDiagnostics(this.#view.state, found));
  }

  async #complete(context) {
    if (!this.completer) return null;
    const text = context.state.doc.toString();
    const before = text.slice(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && !/[\w.'"[]/.test(before)) return null;
    const controller = new AbortController();
    context.addEventListener('abort', () => controller.abort());
    const found = await this.completer(text, points(text, context.pos), controller.signal).catch(() => null);
    if (!found?.items.length) return null;
    return {
      from: units(text, found.from), to: units(text, found.to), filter: false,
      options: found.items.map((each) => ({label: each.text, type: KINDS[each.kind], detail: each.count === undefined ? each.detail : `${each.detail ? `${each.detail} · ` : ''}${each.count}`})),
    };
  }

  focus() { this.#view?.focus(); }

  /** Puts a text where the caret is. */
  insert(text) {
    if (!this.#view) return;
    this.#view.dispatch(this.#view.state.replaceSelection(text));
    this.#view.focus();
  }

  render() { return html`<div class="place"></div>`; }
}
customElements.define('m-editor', Editor);
