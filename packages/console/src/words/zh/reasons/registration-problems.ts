import type { RegistrationProblems, Sentences } from '@patchboard/wire';

/** What is wrong with a tool that a client registers, or with a frame of a device. */
export const registrationProblems: Sentences<RegistrationProblems> = {
  spec_not_object: () => '工具必须是 JSON 对象',
  spec_name_not_text: () => 'name 必须是字符串',
  spec_member_missing: ({ member }) => `${member} 必填`,
  spec_not_schema: ({ member }) => `${member} 必须是 JSON Schema：对象或布尔值`,
  spec_members_unknown: ({ members }) => `不认识的成员：${members}`,
  spec_timeout: () => 'timeout_ms 必须是从 1 开始的整数毫秒',
  spec_not_text: ({ member }) => `${member} 必须是字符串`,
  spec_not_record: ({ member }) => `${member} 必须是对象`,
  spec_annotations: ({ names }) => `annotations 必须是由布尔值组成的对象：${names}`,
  frame_not_json: ({ problem, line, column }) =>
    `帧不是可接受的 JSON：${problem}（第 ${line} 行第 ${column} 列）`,
  frame_not_object: () => '帧必须是 JSON 对象',
  frame_not_text: () => '帧必须是文本',
  frame_type_missing: ({ known }) => `帧没有 type；可用的有 ${known}`,
  frame_type_unknown: ({ type, known }) => `不认识 type "${type}"；可用的有 ${known}`,
  frame_malformed: ({ place, error }) => `${place} 的内容不对：${error}`,
  hello_again: () => 'hello 只能在最前面发送一次：这个连接已经开始',
  protocol_unknown: ({ protocol, spoken }) => `这里不支持协议 ${protocol}，支持的是 ${spoken}`,
};
