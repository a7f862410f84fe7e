/** Names the caller's own volume of that label, wherever a volume is named. */
export const CHAT_ATTACHMENTS = "chat-attachments";
