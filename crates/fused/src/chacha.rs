//! ChaCha8 (Bernstein 2008) of several samples side by side. `headlight-data` has the same numbers from another
//! implementation.

/// Which blocks are computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropoutStream {
    /// The low and the high half of the seed.
    pub(crate) key: [u32; 2],
    pub(crate) step: u32,
    pub(crate) purpose: u32,
    /// The number of the first lane's sample; the others follow.
    pub(crate) sample: u32,
}

/// The four words that every block starts with: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Double rounds without a loop around them. A page, whose code must be small, has one.
const TOGETHER: usize = if cfg!(target_arch = "wasm32") { 1 } else { 4 };

macro_rules! quarter_round {
    ($a:ident $b:ident $c:ident $d:ident) => {
        $a = $a.wrapping_add($b);
        $d = ($d ^ $a).rotate_left(16);
        $c = $c.wrapping_add($d);
        $b = ($b ^ $c).rotate_left(12);
        $a = $a.wrapping_add($b);
        $d = ($d ^ $a).rotate_left(8);
        $c = $c.wrapping_add($d);
        $b = ($b ^ $c).rotate_left(7);
    };
}

/// A round of columns and one of diagonals.
macro_rules! double_round {
    ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident
     $i:ident $j:ident $k:ident $l:ident $m:ident $n:ident $o:ident $p:ident) => {
        quarter_round!($a $e $i $m);
        quarter_round!($b $f $j $n);
        quarter_round!($c $g $k $o);
        quarter_round!($d $h $l $p);
        quarter_round!($a $f $k $p);
        quarter_round!($b $g $l $m);
        quarter_round!($c $h $i $n);
        quarter_round!($d $e $j $o);
    };
}

impl DropoutStream {
    /// The words of a block, of each sample. `[word][lane]`
    ///
    /// One turn of a loop over the lanes has a whole block, without loops of its own: then the compiler makes a vector of each word.
    #[inline(always)]
    pub(crate) fn block<const L: usize>(self, number: u32) -> [[u32; L]; 16] {
        let mut words = [[0; L]; 16];
        for lane in 0..L {
            let sample = self.sample.wrapping_add(lane as u32);
            let [low, high] = self.key;
            let last = [number, self.step, self.purpose, sample];
            let start = [CONSTANTS, [low, high, 0, 0], [0; 4], last];
            let [
                [mut a, mut b, mut c, mut d],
                [mut e, mut f, mut g, mut h],
                [mut i, mut j, mut k, mut l],
                [mut m, mut n, mut o, mut p],
            ] = start;
            for _ in 0..4 / TOGETHER {
                double_round!(a b c d e f g h i j k l m n o p);
                if TOGETHER == 4 {
                    double_round!(a b c d e f g h i j k l m n o p);
                    double_round!(a b c d e f g h i j k l m n o p);
                    double_round!(a b c d e f g h i j k l m n o p);
                }
            }
            let end = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p];
            for w in 0..16 {
                words[w][lane] = end[w].wrapping_add(start[w / 4][w % 4]);
            }
        }
        words
    }
}
