import type { CommandReasons, Sentences } from '@patchboard/wire';

/** Why a call of a workspace tool needs approval whatever the policy: the effects of its command, or a missing sandbox. */
export const commandReasons: Sentences<CommandReasons> = {
  command_without_sandbox: ({ user }) =>
    `服务器没有沙箱：命令以用户 ${user} 的身份运行，能读取和修改该用户的所有文件，也能使用网络`,
  write_without_sandbox: ({ user }) =>
    `服务器没有沙箱：以用户 ${user} 的身份写入，只靠路径检查限制在工作区内`,
  command_too_deep: () => '命令嵌套太深，无法读懂',
  command_unparsable: () => '无法作为命令行读取',
  command_damaged: ({ error }) => `无法读取命令（${error}）`,
  command_program_unknown: () => '命令运行的程序要到运行时才能知道',
  command_program_from_elsewhere: () => '命令运行的程序从别处读入',
  command_text_unknown: () => '命令执行的文本要到运行时才能知道',
  command_starts_itself: ({ program }) => `命令不断启动自身（${program}）`,
  command_writes_device: ({ path }) => `命令写入设备或套接字（${path}）`,
  command_deletes_folders: ({ program }) => `命令删除整个目录（${program}）`,
  command_deletes_found: ({ program }) => `命令删除它找到的内容（${program}）`,
  command_destroys: ({ program }) => `命令彻底销毁内容（${program}）`,
  command_copies_raw: ({ program }) => `命令逐块覆盖文件或磁盘（${program}）`,
  command_changes_disks: ({ program }) => `命令更改磁盘和文件系统（${program}）`,
  command_as_other_user: ({ program }) => `命令试图以其他用户的身份运行（${program}）`,
  command_changes_machine: ({ program }) => `命令停止或更改机器（${program}）`,
  command_runs_later: ({ program }) => `命令留下以后才运行的内容（${program}）`,
  command_changes_rights: ({ program }) => `命令更改整个目录的权限（${program}）`,
  command_discards_work: ({ program }) => `命令丢弃尚未提交的工作（${program}）`,
  command_rewrites_history: ({ program }) => `命令更改历史记录或把它发送出去（${program}）`,
  command_reaches_machine: ({ program }) => `命令与另一台机器通信（${program}）`,
  command_publishes: ({ program }) => `命令对外发布（${program}）`,
};
