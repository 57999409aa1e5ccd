/** Texts of failures in the browser: codes of the client SDK, and errors of the JSON parser. */
export const failuresWords = {
  failures: {
    network_error: '{message}',
    client_timeout: '{message}',
    bad_response: '{message}',
  },
  json: {
    problem: 'line {line}, column {column}: {what}',
    InvalidSymbol: 'this word is not valid JSON',
    InvalidNumberFormat: 'this is not a number',
    PropertyNameExpected: 'a name in double quotes is expected',
    ValueExpected: 'a value is expected',
    ColonExpected: 'a colon is expected',
    CommaExpected: 'a comma is expected',
    CloseBraceExpected: 'a closing brace is expected',
    CloseBracketExpected: 'a closing bracket is expected',
    EndOfFileExpected: 'the text should end here',
    InvalidCommentToken: 'JSON has no comments',
    UnexpectedEndOfComment: 'JSON has no comments',
    UnexpectedEndOfString: 'the string is not closed',
    UnexpectedEndOfNumber: 'the number is incomplete',
    InvalidUnicode: 'four hexadecimal digits are expected',
    InvalidEscapeCharacter: 'this escape is not valid JSON',
    InvalidCharacter: 'this character must be written as an escape',
  },
};
