import { describe, expect, it } from 'vitest'
import { createAuthRouter, defineModel, type SentMail, userFields } from '../../src/index.ts'
import { service } from './service.ts'

const mail = { to: 'ann@example.com', subject: 'Due', text: 'Bring it back.' }

describe('auth.mail.send', () => {
  it('hands the mail to the sender of accounts, and JSON can say what it gets', async () => {
    const got: string[] = []
    const { auth, register } = await service({
      auth: { mail: { sender: (sent: SentMail) => got.push(JSON.stringify(sent)) } } as never,
    })
    await auth.mail.send({ ...mail, html: '<p>Bring it back.</p>' })
    expect(got).toEqual([JSON.stringify({ ...mail, html: '<p>Bring it back.</p>', code: '' })])
    await register('bo@example.com')
    expect(got.length).toBeGreaterThan(0)
  })

  it('uses the transporter and its address', async () => {
    const got: unknown[] = []
    const transporter = { sendMail: async (message: object) => got.push(message) }
    const { auth } = await service({
      auth: { mail: { transporter, from: 'club@example.com' } } as never,
    })
    await auth.mail.send(mail)
    expect(got).toEqual([{ from: 'club@example.com', ...mail }])
  })

  it('rejects as the sender does', async () => {
    const sender = () => Promise.reject(new Error('refused'))
    const { auth } = await service({ auth: { mail: { sender } } as never })
    await expect(auth.mail.send(mail)).rejects.toThrow('refused')
  })

  it.each([
    [{ ...mail, to: '' }, `Auth: 'mail.send': 'to' must be a string`],
    [{ ...mail, subject: undefined }, `Auth: 'mail.send': 'subject' must be a string`],
    [{ ...mail, subject: 'a\r\nBcc: x' }, `Auth: 'mail.send': 'subject' must be one line`],
    [{ ...mail, body: 'x' }, `Auth: 'mail.send' has the unknown key 'body'`],
  ])('refuses %o', async (wrong, message) => {
    const { auth } = await service()
    await expect(auth.mail.send(wrong as never)).rejects.toThrow(message)
  })

  it('is a TypeError at the first call where accounts have no mail', async () => {
    const User = defineModel('OwnMailUser', { fields: userFields(), unique: ['email'] })
    const auth = createAuthRouter({ model: User, token: { secret: 'x'.repeat(32) } })
    await expect(auth.mail.send(mail)).rejects.toThrow(TypeError)
    await expect(auth.mail.send(mail)).rejects.toThrow("Auth: auth.mail.send() needs 'mail'")
  })
})
