//! Labels at the token border (see `instrument::tokens`).

use super::emit::Emitter;
use crate::instrument::llvm::Value;
use pleach_abi::layout::TLS_TOKEN_FRAME;

impl Emitter<'_> {
    /// Replaces the call that a token passes through. The runtime returns the token's
    /// label. The value itself does not change; the freeze makes it a new `Value`,
    /// which can have a different label.
    pub fn emit_token_result(&mut self, i: Value) {
        let (v, frame, record, shape) = (i.operand(0), i.operand(1), i.operand(2), i.operand(3));
        let before = self.label(v);
        let bits = self.bits64(v);
        let label = self.builder.call(self.rt.token_result, &[frame, bits, shape, before, record]);
        let after = self.builder.freeze(v);
        self.set_label(after, label);
        i.replace_with(after);
        i.discard();
    }

    /// Tells the runtime that an exception or a jump may have left a token function.
    pub fn emit_unwound(&mut self) {
        let at = self.tls(TLS_TOKEN_FRAME);
        let inside = self.builder.load(self.ctx.int(64), at);
        let inside = self.builder.is_set(inside);
        let of = self.module.intrinsic("llvm.addressofreturnaddress", &[self.ctx.pointer()]);
        self.guarded(inside, &[], |e| {
            let frame = e.builder.call(of, &[]);
            e.builder.call(e.rt.token_unwound, &[frame]);
            vec![]
        });
    }
}
