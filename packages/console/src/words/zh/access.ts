import type { accessWords as english } from '../en/access.ts';
import type { WordsOf } from '../words-of.ts';

export const accessWords: WordsOf<typeof english> = {
  access: {
    areKey: '你已用 {name} 的密钥登录。页面和按钮取决于它的权限范围和租户。',
    until: '会话有效至',
    ownTenant: '你的密钥所属的租户',
    refused: '{name} 的密钥无权读取此内容。',
    page: '{name} 的密钥无权打开此页面。',
    needs: '需要权限范围',
    or: '或',
    ofServer: '此页面涉及整个服务器，而密钥只属于一个租户。',
    other: '要使用其他密钥或操作员令牌，请先退出，再登录：',
  },
  firstKey: {
    title: '创建第一个密钥？',
    ends: '第一个密钥会结束本地模式：从现在起，没有凭据的请求会被拒绝。',
    concerns:
      '这影响本机上所有不带密钥使用服务器的 Agent、客户端、MCP 客户端和脚本。请给它们各自一个密钥（PATCHBOARD_KEY，或 Authorization: Bearer）。',
    after: '你在此处保持登录。在其他浏览器中或此会话结束后，用以下命令打印的链接或密钥登录：',
    create: '结束本地模式并创建密钥',
    leave: '暂不',
  },
};
