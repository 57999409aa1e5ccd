import type { Command } from 'commander';

/** A term that excludes, such as `-tool:x`: no option has this form. */
const EXCLUDING = /^-[A-Za-z]+[:><=]/;

/** Lets the words of a command be terms of a query that begin with `-`, which would be unknown options otherwise. */
export function withQueryWords(command: Command): Command {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (words) => {
    const isValue = (at: number): boolean =>
      command.options.some(({ required, long }) => required && long === words[at - 1]);
    // Blanks before a term mean nothing in a query.
    return parse(words.map((word, at) => (EXCLUDING.test(word) && !isValue(at) ? ` ${word}` : word)));
  };
  return command;
}
