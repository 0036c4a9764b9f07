//! Labels at the token border (see `instrument::tokens`).

use super::emit::Emitter;
use crate::instrument::llvm::Value;
use pleach_abi::layout::TLS_TOKEN_FRAME;

impl Emitter<'_> {
    /// The call that a token passes through: the runtime says what its label is. The
    /// value is the same, but must not share its label with what it was before.
    pub fn token(&mut self, i: Value) {
        let (v, frame, record, shape) = (i.operand(0), i.operand(1), i.operand(2), i.operand(3));
        let before = self.label(v);
        let bits = self.bits64(v);
        let label = self.b.call(self.rt.token_result, &[frame, bits, shape, before, record]);
        let after = self.b.freeze(v);
        self.set_label(after, label);
        i.replace_with(after);
        i.discard();
    }

    /// Control may have come here out of the middle of a token function.
    pub fn unwound(&mut self) {
        let at = self.tls(TLS_TOKEN_FRAME);
        let inside = self.b.load(self.ctx.int(64), at);
        let inside = self.b.is_set(inside);
        let of = self.module.intrinsic("llvm.addressofreturnaddress", &[self.ctx.pointer()]);
        self.guarded(inside, &[], |e| {
            let frame = e.b.call(of, &[]);
            e.b.call(e.rt.token_unwound, &[frame]);
            vec![]
        });
    }
}
