// What the console uses of CodeMirror: one file, src/muster/console/third_party/codemirror.js.
// Languages are tokenised for colour only; what is wrong and what may follow is the server's to say.
export {Compartment, EditorState, StateEffect, Transaction} from '@codemirror/state';
export {EditorView, drawSelection, keymap, placeholder, tooltips} from '@codemirror/view';
export {StreamLanguage, HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting} from '@codemirror/language';
export {defaultKeymap, history, historyKeymap, indentWithTab} from '@codemirror/commands';
export {acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion}
  from '@codemirror/autocomplete';
export {forceLinting, linter, lintKeymap, setDiagnostics} from '@codemirror/lint';
export {yaml} from '@codemirror/lang-yaml';
export {tags} from '@lezer/highlight';
