import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Colours are inherited from the page: custom properties cross the shadow root. */
const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--sunken)', fontSize: '12px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--muted)',
    border: 'none',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected) !important',
  },
  // The library underlines with a data: image, which the Content-Security-Policy blocks.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line)', color: 'var(--text)' },
});

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: [tags.bool, tags.null], color: 'var(--bad)' },
]);

/**
 * Replaces text by a transaction of the editor. The browser's default would add inline styles, which the
 * Content-Security-Policy blocks.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data: insert } = event;
    // Use the browser's selection: the editor's state may be older.
    const selected = (view.root as Document).getSelection();
    if (inputType !== 'insertText' || insert === null || selected === null || selected.isCollapsed)
      return false;
    const range = selected.getRangeAt(0);
    event.preventDefault();
    const from = view.posAtDOM(range.startContainer, range.startOffset);
    const to = view.posAtDOM(range.endContainer, range.endOffset);
    const caret = { anchor: from + insert.length };
    view.dispatch({ changes: { from, to, insert }, selection: caret, userEvent: 'input.type' });
    return true;
  },
});

export interface EditorOptions {
  readonly parent: ShadowRoot;
  readonly text: string;
  /** Read at each update. */
  readonly label: () => string;
  readonly onChange: (text: string) => void;
  /** Ctrl or ⌘ with Enter. */
  readonly onSubmit: () => void;
}

/**
 * The editor is in a shadow root, where its styles are adopted style sheets instead of style elements, which
 * the Content-Security-Policy would block.
 */
export function createEditor(options: EditorOptions): EditorView {
  const submit = {
    key: 'Mod-Enter',
    run: () => {
      options.onSubmit();
      return true;
    },
  };
  return new EditorView({
    root: options.parent,
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        json(),
        syntaxHighlighting(highlight),
        theme,
        EditorView.lineWrapping,
        replacing,
        EditorView.contentAttributes.of(() => ({ 'aria-label': options.label() })),
        // The tab key is not bound: it moves the focus to the next field.
        keymap.of([submit, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}

export interface EditorMark {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export function markProblems(view: EditorView, marks: readonly EditorMark[]): void {
  const end = view.state.doc.length;
  const diagnostics: Diagnostic[] = marks.map(({ from, to, message }) => ({
    from: Math.min(from, end),
    to: Math.min(Math.max(to, from), end),
    severity: 'error',
    message,
  }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}
