import type { failuresWords as english } from '../en/failures.ts';
import type { WordsOf } from '../words-of.ts';

export const failuresWords: WordsOf<typeof english> = {
  failures: {
    network_error: '无法连接服务器：{message}',
    client_timeout: '等待超时，调用本身仍在继续：{message}',
    bad_response: '响应并非来自 Patchboard，或内容被中途改动：{message}',
  },
  json: {
    problem: '第 {line} 行第 {column} 列：{what}',
    InvalidSymbol: 'JSON 中没有这样的词',
    InvalidNumberFormat: '这不是数字',
    PropertyNameExpected: '此处应为双引号中的名称',
    ValueExpected: '此处应有一个值',
    ColonExpected: '此处应为冒号',
    CommaExpected: '此处应为逗号',
    CloseBraceExpected: '此处应为右花括号',
    CloseBracketExpected: '此处应为右方括号',
    EndOfFileExpected: '文本应到此为止',
    InvalidCommentToken: 'JSON 中没有注释',
    UnexpectedEndOfComment: 'JSON 中没有注释',
    UnexpectedEndOfString: '引号中的文本没有结束',
    UnexpectedEndOfNumber: '数字没有写完',
    InvalidUnicode: '此处应为四位十六进制数字',
    InvalidEscapeCharacter: 'JSON 中没有这种转义',
    InvalidCharacter: '此字符必须写成转义形式',
  },
};
