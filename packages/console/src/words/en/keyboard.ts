/** The keys of the console. */
export const keyboardWords = {
  keyboard: {
    title: 'Keys',
    everywhere: 'On every page',
    ofPage: 'On this page: {page}',
    does: {
      help: 'show the keys',
      search: 'go to the search field of the page, or find anything',
      back: 'close what is open; from a detail back to the page it was opened from, or its list',
      palette: 'find a page, tool, call, run, trace or failure code',
      move: 'move in the list',
      open: 'open the row',
      select: 'select the row',
      fold: 'collapse and expand the calls of a sub-agent',
      decide: 'approve, edit, deny',
      run: 'run the sandbox',
      cancel: 'cancel the run',
    },
  },
};
